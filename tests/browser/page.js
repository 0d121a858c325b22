// Connects to the listener of ?url=, subscribes to ?filter=, and shows what arrives. ?version= is 4 or 5.
const given = new URLSearchParams(location.search);
const state = document.getElementById("state");
const sent = document.getElementById("sent");
const list = document.getElementById("messages");

const client = mqtt.connect(given.get("url"), {
  protocolVersion: Number(given.get("version")),
  username: given.get("user") ?? undefined,
  password: given.get("password") ?? undefined,
  reconnectPeriod: 0,
});

client.on("connect", async () => {
  await client.subscribeAsync(given.get("filter"), { qos: 2 });
  state.textContent = "subscribed";
});

client.on("message", (topic, payload, packet) => {
  const item = document.createElement("li");
  item.textContent = `${topic} at QoS ${packet.qos}: ${payload}`;
  list.append(item);
});

client.on("close", () => {
  state.textContent = state.textContent === "subscribed" ? "lost" : "refused";
});

document.getElementById("send").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  await client.publishAsync(form.get("topic"), form.get("text"), { qos: Number(form.get("qos")) });
  sent.textContent = Number(sent.textContent) + 1;
});
