// What the broker tells the console, as docs/console.md specifies it. Types only: `parse.ts` makes them from text.
import type { Journal } from "./contract-journal.ts";

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

/** A session whose client is away. */
export interface AwaySession {
  client_id: string;
  user: string | null;
  since_ms: number;
  /** Until the session ends; null is for ever. */
  expires_s: number | null;
  queued_messages: number;
  queued_bytes: number;
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

/** Memory of all that waits for others, in bytes. */
export interface Memory {
  bytes: number;
  /** What it may be; 0 is no bound. */
  budget: number;
}

/** A session, of a client that is here or away: one of those for which most waits. */
export interface Holder {
  client_id: string;
  /** Who it is counted for: `user:NAME` or `address:IP`. */
  owner: string;
  state: "connected" | "away";
  queued_messages: number;
  queued_bytes: number;
}

/** What one owner holds of a limit, and what one may hold. */
export interface OwnerShare {
  limit: string;
  owner: string;
  held: number;
  most: number;
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

/** The current value table: what there is, counts since the start, and per second. */
export interface TableFigures {
  parameters: number;
  stale: number;
  selections: number;
  frames: number;
  samples: number;
  refused: number;
  frames_s: number;
  samples_s: number;
  refused_s: number;
}

export interface Stream {
  name: string;
  media: string;
  /** Whether somebody who is connected publishes it. */
  live: boolean;
  publishers: number;
  kept_chunks: number;
  kept_bytes: number;
  buffer_bytes: number;
  chunks_s: number;
  bytes_s: number;
  /** When the last chunk was received; null before the first one. */
  received_ms: number | null;
}

/** The streams: what there is, counts since the start, and the first of them. */
export interface StreamFigures {
  streams: number;
  readers: number;
  lost: number;
  refused: number;
  shown: Stream[];
}

/** Of a topic that is not a parameter. */
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

export interface Amount {
  messages: number;
  bytes: number;
}

export interface LiveMessage {
  at_ms: number;
  broker: Broker;
  rates: Rates;
  totals: Totals;
  clients: Client[];
  clients_total: number;
  away: AwaySession[];
  sessions_total: number;
  /** Sessions that wait for their client. */
  sessions_away: number;
  subscriptions_total: number;
  retained: Amount;
  /** Messages that wait for their first subscriber. */
  waiting: Amount;
  memory: Memory;
  /** Those for whom most waits, the one with most first. */
  holders: Holder[];
  owners: OwnerShare[];
  limits: LimitReached[];
  prefixes: PrefixTraffic[];
  table: TableFigures;
  streams: StreamFigures;
  topics_total: number;
  values: TopicValue[];
  events: BrokerEvent[];
}
