// What panels say while they have nothing to show: what to do next.
import type { LiveMessage } from "../model/contract.ts";
import { explain } from "./page.ts";

const MQTT_PORT_USUAL = "1883";

export function explainNoValues(node: HTMLElement, latest: LiveMessage | null): void {
  if (latest === null) return explain(node, "Waiting for the broker.");
  const port = portOf(latest.broker.mqtt);
  const other = `mosquitto_pub -h ${location.hostname} -p ${port} -t demo/hello -m 42`;
  const url = port === MQTT_PORT_USUAL ? "" : ` --url mqtt://${location.hostname}:${port}`;
  const own = `slipring pub${url} demo/hello 42`;
  const nothing = latest.table.parameters > 0 ? "No messages but those of parameters." : "No messages yet.";
  explain(node, `${nothing} Publish one and it appears here:`, [own, other]);
}

/** `what`: "topic" or "parameter". */
export function explainNoMatch(node: HTMLElement, what: string): void {
  const how = "Type a part of a name, or an MQTT filter with + for one level and # for the rest.";
  explain(node, `No ${what} matches. ${how}`);
}

/** One line of Python that declares a parameter and gives it a value. */
export function explainNoParameters(node: HTMLElement, latest: LiveMessage): void {
  const port = portOf(latest.broker.mqtt);
  const url = port === MQTT_PORT_USUAL ? "" : `"mqtt://${location.hostname}:${port}"`;
  const declared = `bus.declare("demo", {"rpm": slipring.Parameter("f64", unit="1/min")})`;
  const line = `import slipring.sync; bus = slipring.sync.connect(${url}); ${declared}.write({"rpm": 12034.5})`;
  const what = "A parameter is a topic with a type; declare one in Python and it appears here:";
  explain(node, `No parameters yet. ${what}`, [line]);
}

export function explainNoStreams(node: HTMLElement, latest: LiveMessage | null): void {
  if (latest === null) return explain(node, "Waiting for the broker.");
  const port = portOf(latest.broker.mqtt);
  const url = port === MQTT_PORT_USUAL ? "" : ` --url mqtt://${location.hostname}:${port}`;
  const own = `date | slipring stream write${url} demo/words --media text/plain`;
  explain(node, "No streams. A stream carries sound, video or other bytes; write one and it appears here:", [own]);
}

export function explainNoClients(node: HTMLElement, latest: LiveMessage | null): void {
  if (latest === null) return explain(node, "Waiting for the broker.");
  const port = portOf(latest.broker.mqtt);
  const watch = `mosquitto_sub -h ${location.hostname} -p ${port} -v -t '#'`;
  explain(node, `No client is connected. Point any MQTT client at ${latest.broker.mqtt}, for example:`, [watch]);
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
