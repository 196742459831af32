// A program that meets a broker with MQTT.js and prints what it received, one JSON text a line.
//
//   node mqtt-peer.ts URL 4|5 NAME exchange|retained|will|session
//
// tests/interoperability/test_mqttjs.py runs it, and decides what is right.
import { connect, type IClientOptions, type MqttClient } from "mqtt";

type QoS = 0 | 1 | 2;
type Received = { topic: string; payload: string; qos: QoS; retain: boolean };

const [url = "", level = "5", name = "peer", scenario = ""] = process.argv.slice(2);
const LEVELS: readonly QoS[] = [0, 1, 2];
const KEPT: IClientOptions =
  level === "4"
    ? { protocolVersion: 4, clean: false }
    : { protocolVersion: 5, clean: false, properties: { sessionExpiryInterval: 600 } };

class Peer {
  readonly client: MqttClient;
  readonly #arrived: Received[] = [];
  #wake: () => void = () => undefined;

  private constructor(client: MqttClient) {
    this.client = client;
    client.on("message", (topic, payload, packet) => {
      const { qos, retain } = packet;
      this.#arrived.push({ topic, payload: payload.toString(), qos, retain });
      this.#wake();
    });
  }

  /** Connects with a session that is kept; what it gets at once is not missed. */
  static async connect(clientId: string, options: IClientOptions = {}): Promise<Peer> {
    const client = connect(url, { clientId, reconnectPeriod: 0, ...KEPT, ...options });
    const peer = new Peer(client);
    await new Promise((resolve, reject) => client.once("connect", resolve).once("error", reject));
    return peer;
  }

  async print(count: number): Promise<void> {
    while (this.#arrived.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    for (const message of this.#arrived.splice(0, count)) console.log(JSON.stringify(message));
  }

  async end(): Promise<void> {
    await this.client.endAsync();
  }
}

async function publishAll(retain: boolean): Promise<void> {
  const pub = await Peer.connect(`${name}-p`);
  for (const qos of LEVELS) await pub.client.publishAsync(`${name}/${qos}`, `at ${qos}`, { qos, retain });
  await pub.end();
}

async function exchange(): Promise<void> {
  const sub = await Peer.connect(`${name}-s`);
  await sub.client.subscribeAsync(`${name}/+`, { qos: 2 });
  await publishAll(false);
  await sub.print(LEVELS.length);
  await sub.end();
}

async function retained(): Promise<void> {
  await publishAll(true);
  for (const qos of LEVELS) {
    const sub = await Peer.connect(`${name}-s${qos}`);
    await sub.client.subscribeAsync(`${name}/${qos}`, { qos: 2 });
    await sub.print(1);
    await sub.end();
  }
}

async function will(): Promise<void> {
  const sub = await Peer.connect(`${name}-s`);
  await sub.client.subscribeAsync(`${name}/will`, { qos: 2 });
  const last = { topic: `${name}/will`, payload: Buffer.from("gone"), qos: 1 as QoS, retain: false };
  const gone = await Peer.connect(`${name}-g`, { will: last });
  gone.client.stream.destroy();
  await sub.print(1);
  await sub.end();
}

async function session(): Promise<void> {
  const before = await Peer.connect(`${name}-s`);
  await before.client.subscribeAsync(`${name}/+`, { qos: 2 });
  await before.end();
  await publishAll(false);
  const after = await Peer.connect(`${name}-s`);
  await after.print(2);
  await after.end();
}

const SCENARIOS: Record<string, () => Promise<void>> = { exchange, retained, will, session };
const play = SCENARIOS[scenario];
if (play === undefined) throw new Error(`no scenario is named ${scenario}`);
await play();
