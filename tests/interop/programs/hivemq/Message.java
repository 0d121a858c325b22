import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** A message and its line: TOPIC QOS RETAIN PAYLOAD [NAME=VALUE ...], as clients/message.py says. */
record Message(String topic, int qos, boolean retain, byte[] payload, List<Property> properties) {

    /** One property; a user property has the name "user" and its own name in `key`. */
    record Property(String name, String key, byte[] value) {
        static Property of(String word) {
            String[] parts = word.split("[=:]");
            boolean isPair = parts.length == 3;
            String key = isPair ? text(HexFormat.of().parseHex(parts[1])) : "";
            String last = parts[parts.length - 1];
            return new Property(parts[0], key, parts[0].equals("text") ? new byte[0] : HexFormat.of().parseHex(last));
        }

        String word() {
            return switch (name) {
                case "text" -> "text=1";
                case "user" -> "user=" + hex(key.getBytes(StandardCharsets.UTF_8)) + ":" + hex(value);
                default -> name + "=" + hex(value);
            };
        }

        String text() {
            return text(value);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    static Message of(String line) {
        String[] words = line.split(" ");
        byte[] payload = words[3].equals("-") ? new byte[0] : HexFormat.of().parseHex(words[3]);
        List<Property> properties = new ArrayList<>();
        for (int place = 4; place < words.length; place++) {
            properties.add(Property.of(words[place]));
        }
        return new Message(words[0], Integer.parseInt(words[1]), words[2].equals("1"), payload, properties);
    }

    String line() {
        String content = payload.length == 0 ? "-" : hex(payload);
        String rest = properties.stream().map(property -> " " + property.word()).collect(Collectors.joining());
        return topic + " " + qos + " " + (retain ? 1 : 0) + " " + content + rest;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
