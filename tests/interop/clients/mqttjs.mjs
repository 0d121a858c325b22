// node mqttjs.mjs URL VERSION subscribe FILTER    prints "subscribed", then "message {json}" per message
// node mqttjs.mjs URL VERSION publish             reads a JSON list of messages, ends when all are acknowledged
import { readFileSync } from "node:fs";
import mqtt from "mqtt";

const [url, version, verb, filter] = process.argv.slice(2);
const client = await mqtt.connectAsync(url, { protocolVersion: Number(version), reconnectPeriod: 0 });

if (verb === "subscribe") {
  client.on("message", (topic, payload, packet) => {
    console.log("message " + JSON.stringify({ topic, payload: payload.toString("hex"), qos: packet.qos }));
  });
  await client.subscribeAsync(filter, { qos: 2 });
  console.log("subscribed");
} else {
  const messages = JSON.parse(readFileSync(0, "utf8"));
  await Promise.all(
    messages.map(({ topic, payload, qos }) => client.publishAsync(topic, Buffer.from(payload, "hex"), { qos })),
  );
  await client.endAsync();
}
