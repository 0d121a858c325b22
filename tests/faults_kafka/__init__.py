"""Does the bridge lose nothing while Kafka, the broker and its own members are killed and paused at random?

Publishers publish at QoS 1 and note what the broker has acknowledged. At random moments Kafka is killed, paused or
restarted, a bridge member is killed, or the broker is. In the end everybody is up, and every acknowledged message must
be in the Kafka topic; what is there more than once is counted by its message id. A report is written to the output
folder, with the logs of everybody.

    python -m tests.faults_kafka --seconds 600
"""
