/* A message and its line: TOPIC QOS RETAIN PAYLOAD [NAME=VALUE ...], as clients/message.py says. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <MQTTClient.h>

/* What a line says; `topic` and `packet` are the message's own memory, given back by message_free. */
struct message {
    char *topic;
    MQTTClient_message packet;
};

/* Reads `line`, which is taken apart while it is read. Properties are kept where `version` is 5. */
struct message message_of(char *line, int version);

/* Prints "message ..." and the end of the line, in one write. */
void message_print(const char *topic, const MQTTClient_message *packet);

void message_free(struct message *message);

/* Ends the program with what went wrong. */
_Noreturn void fail(const char *what, int code);

#endif
