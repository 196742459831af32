// What the broker tells the console, as docs/console.md specifies it. Types only: `parse.ts` makes them from text.

export interface Journal {
  state: "ok" | "failed" | "off";
  reason: string | null;
  first_offset: number | null;
  next_offset: number | null;
  synced_offset: number | null;
  bytes: number | null;
  segments: number | null;
  not_journaled: number | null;
}

export interface Broker {
  name: string;
  version: string;
  uptime_s: number;
  mqtt: string;
  journal: Journal;
}

export interface Rates {
  messages_in: number;
  messages_out: number;
  bytes_in: number;
  bytes_out: number;
  dropped: number;
  expired: number;
}

export interface Totals extends Rates {
  connections: number;
}

export interface Client {
  client_id: string;
  address: string;
  /** The name of the listener it came by. */
  listener: string;
  /** Who it says it is, or has proved to be. */
  user: string | null;
  protocol: string;
  connected_s: number;
  messages_in: number;
  messages_out: number;
  dropped: number;
  expired: number;
  /** QoS 1 and 2 messages that wait or are in flight. */
  queued_messages: number;
  queued_bytes: number;
  inflight: number;
  subscriptions: string[];
}

/** A limit that was reached since the start. */
export interface LimitReached {
  /** Its key in the table `limits` of the configuration. */
  limit: string;
  value: number;
  times: number;
  last_ms: number;
}

/** What is published below the first two levels of a topic: since the start, and per second. */
export interface PrefixTraffic {
  prefix: string;
  messages: number;
  bytes: number;
  deliveries: number;
  messages_s: number;
  bytes_s: number;
}

export interface TopicValue {
  topic: string;
  /** Null when the payload is not UTF-8 text. */
  text: string | null;
  bytes: number;
  at_ms: number;
  count: number;
}

export interface BrokerEvent {
  at_ms: number;
  level: string;
  kind: string;
  text: string;
}

export interface LiveMessage {
  at_ms: number;
  broker: Broker;
  rates: Rates;
  totals: Totals;
  clients: Client[];
  clients_total: number;
  sessions_total: number;
  /** Sessions that wait for their client. */
  sessions_away: number;
  subscriptions_total: number;
  retained: { messages: number; bytes: number };
  limits: LimitReached[];
  prefixes: PrefixTraffic[];
  topics_total: number;
  values: TopicValue[];
  events: BrokerEvent[];
}
