/* Eclipse Paho's C client as a program; clients/peer.py says how it is started and spoken to. */
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 30000

static int version = 4;

/* The value of NAME= on the command line, or NULL. */
static char *given(char **words, const char *name) {
    size_t length = strlen(name);
    for (; *words != NULL; words++) {
        if (strncmp(*words, name, length) == 0 && (*words)[length] == '=') return *words + length + 1;
    }
    return NULL;
}

static int arrived(void *context, char *topic, int topic_length, MQTTClient_message *packet) {
    (void)context;
    (void)topic_length; /* no topic of the tests has a zero in it */
    message_print(topic, packet);
    MQTTClient_freeMessage(&packet);
    MQTTClient_free(topic);
    return 1;
}

static void say(const char *word) {
    flockfile(stdout);
    printf("%s\n", word);
    fflush(stdout);
    funlockfile(stdout);
}

/* The library knows TLS as ssl://. Its WebSocket schemes are the usual ones. */
static char *address(const char *url) {
    char *made = malloc(strlen(url) + 1);
    if (made == NULL) fail("out of memory", 1);
    strcpy(made, url);
    if (strncmp(url, "tls:", 4) == 0) memcpy(made, "ssl:", 4);
    return made;
}

/* An answer of 5.0: its reason code, where it is one of failure or the library's own error below zero. */
static int reason(MQTTResponse response) {
    int code = response.reasonCode;
    MQTTResponse_free(response);
    return code < 0 || code >= 0x80 ? code : 0;
}

static void open_connection(MQTTClient client, char **words) {
    MQTTClient_connectOptions for_311 = MQTTClient_connectOptions_initializer;
    MQTTClient_connectOptions for_5 = MQTTClient_connectOptions_initializer5;
    MQTTClient_connectOptions options = version == 5 ? for_5 : for_311;
    MQTTClient_SSLOptions ssl = MQTTClient_SSLOptions_initializer;
    MQTTClient_willOptions will = MQTTClient_willOptions_initializer;
    struct message last = {NULL, MQTTClient_message_initializer};

    options.MQTTVersion = version;
    if (version == 5) options.cleanstart = 1;
    options.reliable = 0; /* several messages may be under way */
    options.username = given(words, "user");
    options.password = given(words, "password");
    if ((ssl.trustStore = given(words, "ca")) != NULL) {
        ssl.verify = 1; /* the host's name too */
        options.ssl = &ssl;
    }
    if (given(words, "will") != NULL) {
        last = message_of(given(words, "will"), version);
        will.topicName = last.topic;
        will.payload.data = last.packet.payload;
        will.payload.len = last.packet.payloadlen;
        will.qos = last.packet.qos;
        will.retained = last.packet.retained;
        options.will = &will;
    }
    MQTTProperties *of_will = last.topic == NULL ? NULL : &last.packet.properties;
    int code = version == 5 ? reason(MQTTClient_connect5(client, &options, NULL, of_will))
                            : MQTTClient_connect(client, &options);
    if (code != 0) fail("connect", code);
    message_free(&last);
}

static void subscribe(MQTTClient client, const char *filter) {
    int code = version == 5 ? reason(MQTTClient_subscribe5(client, filter, 2, NULL, NULL))
                            : MQTTClient_subscribe(client, filter, 2);
    if (code != 0) fail("subscribe", code);
    say("subscribed");
}

static void publish(MQTTClient client, char *line) {
    struct message message = message_of(line, version);
    MQTTClient_deliveryToken token = 0;
    int code = version == 5 ? reason(MQTTClient_publishMessage5(client, message.topic, &message.packet, &token))
                            : MQTTClient_publishMessage(client, message.topic, &message.packet, &token);
    if (code != 0) fail("publish", code);
    if (message.packet.qos > 0 && (code = MQTTClient_waitForCompletion(client, token, TIMEOUT_MS)) != 0) {
        fail("publish: no acknowledgement", code);
    }
    message_free(&message);
    say("published");
}

static void carry_out(MQTTClient client, char *line) {
    line[strcspn(line, "\n")] = '\0';
    char *rest = strchr(line, ' ');
    if (rest == NULL) fail("a line has a verb and a rest", 1);
    *rest++ = '\0';
    if (strcmp(line, "subscribe") == 0) {
        subscribe(client, rest);
    } else {
        publish(client, rest);
    }
}

int main(int count, char **words) {
    (void)count;
    if (given(words, "url") == NULL || given(words, "id") == NULL || given(words, "version") == NULL) {
        fail("url=, id= and version= are needed", 1);
    }
    version = atoi(given(words, "version"));
    char *url = address(given(words, "url"));
    MQTTClient_init_options start = MQTTClient_init_options_initializer;
    start.do_openssl_init = 1;
    MQTTClient_global_init(&start);

    MQTTClient client = NULL;
    MQTTClient_createOptions options = MQTTClient_createOptions_initializer;
    options.MQTTVersion = version;
    int code = MQTTClient_createWithOptions(
        &client, url, given(words, "id"), MQTTCLIENT_PERSISTENCE_NONE, NULL, &options);
    if (code != 0) fail("create", code);
    MQTTClient_setCallbacks(client, NULL, NULL, arrived, NULL);
    open_connection(client, words);
    say("connected");

    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) carry_out(client, line);
    code = version == 5 ? MQTTClient_disconnect5(client, TIMEOUT_MS, MQTTREASONCODE_SUCCESS, NULL)
                        : MQTTClient_disconnect(client, TIMEOUT_MS);
    MQTTClient_destroy(&client);
    free(line);
    free(url);
    return code == 0 ? 0 : 1;
}
