import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The HiveMQ MQTT client as a program; clients/peer.py says how it is started and spoken to. */
final class Main {
    private Main() {}

    public static void main(String[] words) {
        try {
            run(new Arguments(words));
            System.exit(0);
        } catch (Exception failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            say("refused: " + cause);
            System.exit(1);
        }
    }

    private static void run(Arguments given) throws Exception {
        Link link = given.version() == 5 ? new Link5(given) : new Link3(given);
        link.connect(message -> say("message " + message.line())).get();
        say("connected");
        List<CompletableFuture<?>> unfinished = new ArrayList<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            unfinished.add(carryOut(link, line));
        }
        CompletableFuture.allOf(unfinished.toArray(new CompletableFuture<?>[0])).get();
        link.disconnect().get();
    }

    private static CompletableFuture<?> carryOut(Link link, String line) {
        String[] parts = line.split(" ", 2);
        if (parts[0].equals("subscribe")) {
            return link.subscribe(parts[1]).thenRun(() -> say("subscribed"));
        }
        return link.publish(Message.of(parts[1])).thenRun(() -> say("published"));
    }

    /** One line in one write: callbacks come on threads of the client. */
    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
