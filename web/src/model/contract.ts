// What the broker tells the console, as docs/console.md specifies it. Types only: `parse.ts` makes them from text.

export interface Journal {
  state: "ok" | "failed" | "off";
  reason: string | null;
  first_offset: number | null;
  next_offset: number | null;
  synced_offset: number | null;
  bytes: number | null;
  segments: number | null;
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
}

export interface Totals extends Rates {
  connections: number;
}

export interface Client {
  client_id: string;
  address: string;
  protocol: string;
  connected_s: number;
  messages_in: number;
  messages_out: number;
  dropped: number;
  queued_bytes: number;
  subscriptions: string[];
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
  topics_total: number;
  values: TopicValue[];
  events: BrokerEvent[];
}
