import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** One connection, whichever version of MQTT it speaks. */
interface Link {
    CompletableFuture<?> connect(Consumer<Message> arrived);

    /** At QoS 2; completes with the SUBACK. */
    CompletableFuture<?> subscribe(String filter);

    /** Completes with the last handshake. */
    CompletableFuture<?> publish(Message message);

    CompletableFuture<?> disconnect();
}
