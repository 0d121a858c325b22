import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt3.Mqtt3AsyncClient;
import com.hivemq.client.mqtt.mqtt3.Mqtt3Client;
import com.hivemq.client.mqtt.mqtt3.message.auth.Mqtt3SimpleAuth;
import com.hivemq.client.mqtt.mqtt3.message.connect.Mqtt3Connect;
import com.hivemq.client.mqtt.mqtt3.message.connect.Mqtt3ConnectBuilder;
import com.hivemq.client.mqtt.mqtt3.message.publish.Mqtt3Publish;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** MQTT 3.1.1. */
final class Link3 implements Link {
    private final Mqtt3AsyncClient client;
    private final Mqtt3Connect connect;

    Link3(Arguments given) {
        client = given.address(Mqtt3Client.builder()).buildAsync();
        Mqtt3ConnectBuilder builder = Mqtt3Connect.builder();
        if (given.user().isPresent()) {
            builder = builder.simpleAuth(
                    Mqtt3SimpleAuth.builder().username(given.user().get()).password(given.password()).build());
        }
        if (given.will().isPresent()) {
            builder = builder.willPublish(packet(given.will().get()));
        }
        connect = builder.build();
    }

    @Override
    public CompletableFuture<?> connect(Consumer<Message> arrived) {
        client.publishes(MqttGlobalPublishFilter.ALL, publish -> arrived.accept(message(publish)));
        return client.connect(connect);
    }

    @Override
    public CompletableFuture<?> subscribe(String filter) {
        return client.subscribeWith().topicFilter(filter).qos(MqttQos.EXACTLY_ONCE).send();
    }

    @Override
    public CompletableFuture<?> publish(Message message) {
        return client.publish(packet(message));
    }

    @Override
    public CompletableFuture<?> disconnect() {
        return client.disconnect();
    }

    private static Mqtt3Publish packet(Message message) {
        return Mqtt3Publish.builder()
                .topic(message.topic())
                .payload(message.payload())
                .qos(MqttQos.fromCode(message.qos()))
                .retain(message.retain())
                .build();
    }

    private static Message message(Mqtt3Publish publish) {
        return new Message(
                publish.getTopic().toString(),
                publish.getQos().getCode(),
                publish.isRetain(),
                publish.getPayloadAsBytes(),
                List.of());
    }
}
