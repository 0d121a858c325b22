"""Does the bridge lose nothing while Kafka, the broker and its own members are killed and paused at random?

Publishers publish readings at QoS 1 and note what the broker has acknowledged. At random moments Kafka is killed,
paused or restarted, its disk is full, a bridge member is killed, or the broker is. In the end all are up, and every
acknowledged reading must be in the Kafka topic; what is there more than once is counted by its message id. Then the job
`coverage` reads the topic: each reading must be in its tables once, and the repeats counted. A report is written to the
output folder, with the logs of everybody.

    python -m tests.faults_kafka --seconds 600
"""
