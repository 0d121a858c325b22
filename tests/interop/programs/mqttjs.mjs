// MQTT.js in Node.js; clients/peer.py says how it is started and spoken to.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import mqtt from "mqtt";

const SCHEMES = { tcp: "mqtt", tls: "mqtts", ws: "ws", wss: "wss" };

const given = Object.fromEntries(
  process.argv.slice(2).map((argument) => [argument.split("=", 1)[0], argument.slice(argument.indexOf("=") + 1)]),
);
const isVersion5 = given.version === "5";

const hex = (text) => Buffer.from(text).toString("hex");
const text = (digits) => Buffer.from(digits, "hex").toString();

function parse(line) {
  const [topic, qos, retain, payload, ...words] = line.split(" ");
  const options = { qos: Number(qos), retain: retain === "1" };
  if (isVersion5) options.properties = properties(words);
  return { topic, payload: Buffer.from(payload === "-" ? "" : payload, "hex"), options };
}

function properties(words) {
  const found = {};
  const user = [];
  for (const word of words) {
    const [name, value] = word.split("=");
    if (name === "text") found.payloadFormatIndicator = true;
    if (name === "content") found.contentType = text(value);
    if (name === "response") found.responseTopic = text(value);
    if (name === "correlation") found.correlationData = Buffer.from(value, "hex");
    if (name === "user") user.push(value.split(":").map(text));
  }
  // An object: MQTT.js has a value, or a list of values, for each name.
  if (user.length) found.userProperties = Object.fromEntries(user.map(([name]) => [name, valuesOf(user, name)]));
  return found;
}

function valuesOf(pairs, name) {
  const values = pairs.filter(([other]) => other === name).map(([, value]) => value);
  return values.length === 1 ? values[0] : values;
}

function words(found = {}) {
  const list = found.payloadFormatIndicator ? ["text=1"] : [];
  if (found.contentType) list.push(`content=${hex(found.contentType)}`);
  if (found.responseTopic) list.push(`response=${hex(found.responseTopic)}`);
  if (found.correlationData) list.push(`correlation=${found.correlationData.toString("hex")}`);
  for (const [name, values] of Object.entries(found.userProperties ?? {})) {
    for (const value of [values].flat()) list.push(`user=${hex(name)}:${hex(value)}`);
  }
  return list;
}

function show(topic, payload, packet) {
  const content = payload.toString("hex") || "-";
  console.log(["message", topic, packet.qos, packet.retain ? 1 : 0, content, ...words(packet.properties)].join(" "));
}

function fail(error) {
  console.log(`refused: ${error.message}`);
  process.exit(1);
}

const will = given.will && parse(given.will);
const url = new URL(given.url);
const client = mqtt.connect(given.url.replace(url.protocol, `${SCHEMES[url.protocol.slice(0, -1)]}:`), {
  protocolVersion: Number(given.version),
  clientId: given.id,
  username: given.user,
  password: given.password,
  ca: given.ca && readFileSync(given.ca),
  will: will && { topic: will.topic, payload: will.payload, ...will.options },
  reconnectPeriod: 0,
});
client.on("message", show);
client.on("error", fail);
client.once("connect", async () => {
  console.log("connected");
  const unfinished = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...rest] = line.split(" ");
    if (verb === "subscribe") {
      unfinished.push(client.subscribeAsync(rest.join(" "), { qos: 2 }).then(() => console.log("subscribed")));
    } else {
      const { topic, payload, options } = parse(rest.join(" "));
      unfinished.push(client.publishAsync(topic, payload, options).then(() => console.log("published")));
    }
  }
  await Promise.all(unfinished);
  await client.endAsync();
});
