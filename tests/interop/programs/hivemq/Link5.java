import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5AsyncClient;
import com.hivemq.client.mqtt.mqtt5.Mqtt5Client;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserProperties;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserPropertiesBuilder;
import com.hivemq.client.mqtt.mqtt5.message.auth.Mqtt5SimpleAuth;
import com.hivemq.client.mqtt.mqtt5.message.connect.Mqtt5Connect;
import com.hivemq.client.mqtt.mqtt5.message.connect.Mqtt5ConnectBuilder;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PayloadFormatIndicator;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PublishBuilder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** MQTT 5.0. */
final class Link5 implements Link {
    private final Mqtt5AsyncClient client;
    private final Mqtt5Connect connect;

    Link5(Arguments given) {
        client = given.address(Mqtt5Client.builder()).buildAsync();
        Mqtt5ConnectBuilder builder = Mqtt5Connect.builder();
        if (given.user().isPresent()) {
            builder = builder.simpleAuth(
                    Mqtt5SimpleAuth.builder().username(given.user().get()).password(given.password()).build());
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
        return client.publish(packet(message)).thenAccept(result -> result.getError().ifPresent(Link5::fail));
    }

    @Override
    public CompletableFuture<?> disconnect() {
        return client.disconnect();
    }

    private static void fail(Throwable error) {
        throw new IllegalStateException(error);
    }

    private static Mqtt5Publish packet(Message message) {
        Mqtt5PublishBuilder.Complete builder = Mqtt5Publish.builder()
                .topic(message.topic())
                .payload(message.payload())
                .qos(MqttQos.fromCode(message.qos()))
                .retain(message.retain());
        Mqtt5UserPropertiesBuilder user = Mqtt5UserProperties.builder();
        for (Message.Property property : message.properties()) {
            switch (property.name()) {
                case "text" -> builder = builder.payloadFormatIndicator(Mqtt5PayloadFormatIndicator.UTF_8);
                case "content" -> builder = builder.contentType(property.text());
                case "response" -> builder = builder.responseTopic(property.text());
                case "correlation" -> builder = builder.correlationData(property.value());
                case "user" -> user = user.add(property.key(), property.text());
                default -> throw new IllegalArgumentException("no such property: " + property.name());
            }
        }
        return builder.userProperties(user.build()).build();
    }

    private static Message message(Mqtt5Publish publish) {
        return new Message(
                publish.getTopic().toString(),
                publish.getQos().getCode(),
                publish.isRetain(),
                publish.getPayloadAsBytes(),
                properties(publish));
    }

    private static List<Message.Property> properties(Mqtt5Publish publish) {
        List<Message.Property> found = new ArrayList<>();
        publish.getPayloadFormatIndicator()
                .filter(indicator -> indicator == Mqtt5PayloadFormatIndicator.UTF_8)
                .ifPresent(indicator -> found.add(new Message.Property("text", "", new byte[0])));
        publish.getContentType().ifPresent(text -> found.add(property("content", "", text.toString())));
        publish.getResponseTopic().ifPresent(topic -> found.add(property("response", "", topic.toString())));
        publish.getCorrelationData().ifPresent(data -> found.add(new Message.Property("correlation", "", bytes(data))));
        publish.getUserProperties()
                .asList()
                .forEach(pair -> found.add(property("user", pair.getName().toString(), pair.getValue().toString())));
        return found;
    }

    private static Message.Property property(String name, String key, String value) {
        return new Message.Property(name, key, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return copy;
    }
}
