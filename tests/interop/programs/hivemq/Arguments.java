import com.hivemq.client.mqtt.MqttClientBuilderBase;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.TrustManagerFactory;

/** What this client is told on its command line: NAME=VALUE words. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(String[] words) {
        for (String word : words) {
            String[] parts = word.split("=", 2);
            values.put(parts[0], parts[1]);
        }
    }

    int version() {
        return Integer.parseInt(values.get("version"));
    }

    Optional<String> user() {
        return Optional.ofNullable(values.get("user"));
    }

    byte[] password() {
        return values.getOrDefault("password", "").getBytes(StandardCharsets.UTF_8);
    }

    Optional<Message> will() {
        return Optional.ofNullable(values.get("will")).map(Message::of);
    }

    /** Gives the builder of either version the identifier, the address and what lies between TCP and MQTT. */
    <B extends MqttClientBuilderBase<B>> B address(B builder) {
        URI url = URI.create(values.get("url"));
        B made = builder.identifier(values.get("id")).serverHost(url.getHost()).serverPort(url.getPort());
        if (url.getScheme().startsWith("ws")) {
            made = made.webSocketConfig().serverPath(url.getPath().substring(1)).applyWebSocketConfig();
        }
        if (values.containsKey("ca")) {
            made = made.sslConfig().trustManagerFactory(trust(Path.of(values.get("ca")))).applySslConfig();
        }
        return made;
    }

    /** Trusts the one authority of the file, and no other. */
    private static TrustManagerFactory trust(Path file) {
        try (InputStream pem = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory;
        } catch (Exception failure) {
            throw new IllegalArgumentException("cannot read the certificate in " + file, failure);
        }
    }
}
