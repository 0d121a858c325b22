#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum MQTTPropertyCodes code;
} TEXTS[] = {
    {"content", MQTTPROPERTY_CODE_CONTENT_TYPE},
    {"response", MQTTPROPERTY_CODE_RESPONSE_TOPIC},
    {"correlation", MQTTPROPERTY_CODE_CORRELATION_DATA},
};

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) fail("out of memory", 1);
    return memory;
}

/* Bytes of hexadecimal digits, and how many; "-" is none. */
static char *from_hex(const char *digits, int *length) {
    *length = strcmp(digits, "-") == 0 ? 0 : (int)strlen(digits) / 2;
    char *bytes = allocate((size_t)*length + 1);
    for (int place = 0; place < *length; place++) {
        unsigned value = 0;
        if (sscanf(digits + 2 * place, "%2x", &value) != 1) fail("not hexadecimal", 1);
        bytes[place] = (char)value;
    }
    return bytes;
}

/* The library copies what is given to it, so the bytes go when they were added. */
static void add_property(MQTTProperties *properties, char *word) {
    char *value = strchr(word, '=');
    if (value == NULL) fail("a property without a value", 1);
    *value++ = '\0';
    MQTTProperty property = {0};
    char *bytes[2] = {NULL, NULL};
    if (strcmp(word, "text") == 0) {
        property.identifier = MQTTPROPERTY_CODE_PAYLOAD_FORMAT_INDICATOR;
        property.value.byte = 1;
    } else if (strcmp(word, "user") == 0) {
        char *second = strchr(value, ':');
        if (second == NULL) fail("a user property without a value", 1);
        *second++ = '\0';
        property.identifier = MQTTPROPERTY_CODE_USER_PROPERTY;
        property.value.data.data = bytes[0] = from_hex(value, &property.value.data.len);
        property.value.value.data = bytes[1] = from_hex(second, &property.value.value.len);
    }
    for (size_t place = 0; place < sizeof TEXTS / sizeof *TEXTS; place++) {
        if (strcmp(word, TEXTS[place].name) != 0) continue;
        property.identifier = TEXTS[place].code;
        property.value.data.data = bytes[0] = from_hex(value, &property.value.data.len);
    }
    if (MQTTProperties_add(properties, &property) != 0) fail("the library refuses a property", 1);
    free(bytes[0]);
    free(bytes[1]);
}

struct message message_of(char *line, int version) {
    struct message message = {NULL, MQTTClient_message_initializer};
    char *rest = NULL;
    char *topic = strtok_r(line, " ", &rest);
    char *qos = strtok_r(NULL, " ", &rest);
    char *retain = strtok_r(NULL, " ", &rest);
    char *payload = strtok_r(NULL, " ", &rest);
    if (payload == NULL) fail("a message has four words or more", 1);
    message.topic = strcpy(allocate(strlen(topic) + 1), topic);
    message.packet.qos = atoi(qos);
    message.packet.retained = atoi(retain);
    message.packet.payload = from_hex(payload, &message.packet.payloadlen);
    for (char *word; version >= 5 && (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        add_property(&message.packet.properties, word);
    }
    return message;
}

static void print_hex(FILE *out, const char *bytes, int length) {
    for (int place = 0; place < length; place++) fprintf(out, "%02x", (unsigned char)bytes[place]);
}

static void print_property(FILE *out, const MQTTProperty *property) {
    if (property->identifier == MQTTPROPERTY_CODE_PAYLOAD_FORMAT_INDICATOR && property->value.byte == 1) {
        fprintf(out, " text=1");
    }
    if (property->identifier == MQTTPROPERTY_CODE_USER_PROPERTY) {
        fprintf(out, " user=");
        print_hex(out, property->value.data.data, property->value.data.len);
        fprintf(out, ":");
        print_hex(out, property->value.value.data, property->value.value.len);
    }
    for (size_t place = 0; place < sizeof TEXTS / sizeof *TEXTS; place++) {
        if (property->identifier != TEXTS[place].code) continue;
        fprintf(out, " %s=", TEXTS[place].name);
        print_hex(out, property->value.data.data, property->value.data.len);
    }
}

void message_print(const char *topic, const MQTTClient_message *packet) {
    flockfile(stdout);
    fprintf(stdout, "message %s %d %d ", topic, packet->qos, packet->retained);
    if (packet->payloadlen == 0) fprintf(stdout, "-");
    print_hex(stdout, packet->payload, packet->payloadlen);
    for (int place = 0; place < packet->properties.count; place++) {
        print_property(stdout, &packet->properties.array[place]);
    }
    fprintf(stdout, "\n");
    fflush(stdout);
    funlockfile(stdout);
}

void message_free(struct message *message) {
    free(message->topic);
    free(message->packet.payload);
    MQTTProperties_free(&message->packet.properties);
}

void fail(const char *what, int code) {
    printf("refused: %s (%d: %s)\n", what, code, MQTTReasonCode_toString((enum MQTTReasonCodes)code));
    fflush(stdout);
    _Exit(1);
}
