// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, oneOf, orNull, type TypeOf } from "../shape.ts";
import { AlarmSummary } from "./alarms.ts";
import { Acknowledged, AwayStatus, ClientStatus, MemoryUse, OwnerShare, RetainedMessages, SessionStatus, Totals, TrafficCounts, WaitingMessages } from "./engine.ts";
import { RequestFigures } from "./requests.ts";

/** The level of some topics. */
export const DurabilityRule = fields({
  topics: list("text"), level: oneOf("memory", "process", "disk"),
});
export type DurabilityRule = TypeOf<typeof DurabilityRule>;

/** What the journal promises. */
export const Durability = fields({
  default: oneOf("memory", "process", "disk"), journaled: list("text"), rules: list(DurabilityRule),
});
export type Durability = TypeOf<typeof Durability>;

/** What is removed from the journal. */
export const Retention = fields({
  age_s: orNull("number"), bytes: orNull("number"), keep_unread: "truth",
});
export type Retention = TypeOf<typeof Retention>;

/** Rows that a job of the pipeline says it wrote to a table. */
export const ConsumerRows = fields({
  table: "text", rows: "number", rows_s: "number", last_rows: "number",
});
export type ConsumerRows = TypeOf<typeof ConsumerRows>;

/** A consumer of the journal, and how far it has come. */
export const ConsumerStatus = fields({
  name: "text", offset: orNull("number"), behind: orNull("number"), lag_s: orNull("number"),
  messages_s: orNull("number"), updated_ms: orNull("number"), rows: list(ConsumerRows), flaw: orNull("text"),
});
export type ConsumerStatus = TypeOf<typeof ConsumerStatus>;

/** The archive of the journal, and how far it is. */
export const ArchiveStatus = fields({
  url: "text", first_offset: "number", end_offset: "number", behind: "number", segments: "number", bytes: "number",
  waiting: "number", failure: orNull("text"), is_failing: "truth", failures: "number", updated_ms: orNull("number"),
});
export type ArchiveStatus = TypeOf<typeof ArchiveStatus>;

/** A range of offsets that cannot be read, in words. */
export const ShownDamage = fields({
  first_offset: "number", end_offset: "number", why: "text", text: "text",
});
export type ShownDamage = TypeOf<typeof ShownDamage>;

/** What the start found in the journal. */
export const ReceiptSummary = fields({
  identity: "text", epoch: "number", first_offset: "number", next_offset: "number", segments: "number",
  bytes_read: "number", cut_bytes: "number", cut_why: orNull("text"), flaws: list("text"), sessions: "number",
  queued: "number", retained: "number", waiting: "number", requests: "number", seconds: "number", text: "text",
  kept: "number", damaged: "number", damage: list(ShownDamage), damage_total: "number",
});
export type ReceiptSummary = TypeOf<typeof ReceiptSummary>;

/** The journal: its state, what it promises, who reads it, what the start found. */
export const JournalSummary = fields({
  first_offset: orNull("number"), next_offset: orNull("number"), synced_offset: orNull("number"),
  bytes: orNull("number"), bytes_max: orNull("number"), segments: orNull("number"), not_journaled: orNull("number"),
  held_by: orNull("text"), no_space: orNull("text"), failure: orNull("text"), disk_free_bytes: orNull("number"),
  disk_bytes: orNull("number"), state: oneOf("ok", "full", "failed", "off"), reason: orNull("text"),
  advice: orNull("text"), messages: orNull("number"), unsynced: orNull("number"), durability: Durability,
  acknowledged: Acknowledged, retention: Retention, consumers: list(ConsumerStatus), consumers_total: "number",
  archive: orNull(ArchiveStatus), receipt: orNull(ReceiptSummary),
});
export type JournalSummary = TypeOf<typeof JournalSummary>;

/** Which broker it is, and the state of its journal. */
export const BrokerSummary = fields({
  name: "text", source: "text", mark: orNull("text"), version: "text", uptime_s: "number", mqtt: "text",
  journal: JournalSummary,
});
export type BrokerSummary = TypeOf<typeof BrokerSummary>;

/** The current value table, with rates and ages. */
export const TableFigures = fields({
  parameters: "number", stale: "number", value_bytes: "number", selections: "number", readers: "number",
  readers_newest: "number", frames: "number", samples: "number", refused: "number", frames_s: "number",
  samples_s: "number", refused_s: "number", aged: "number", age_p50_ms: orNull("number"),
  age_p99_ms: orNull("number"),
});
export type TableFigures = TypeOf<typeof TableFigures>;

/** One stream: what is kept of it, and how fast it comes. */
export const StreamRate = fields({
  index: "number", name: "text", media: "text", live: "truth", publishers: "number", chunks: "number",
  received_bytes: "number", kept_chunks: "number", kept_bytes: "number", buffer_bytes: "number", chunks_s: "number",
  bytes_s: "number", received_ms: orNull("number"),
});
export type StreamRate = TypeOf<typeof StreamRate>;

/** The streams, and the first of them one by one. */
export const StreamFigures = fields({
  streams: "number", readers: "number", kept_bytes: "number", chunks: "number", bytes: "number", delivered: "number",
  lost: "number", refused: "number", shown: list(StreamRate),
});
export type StreamFigures = TypeOf<typeof StreamFigures>;

/** A limit that was reached since the start. */
export const LimitReached = fields({
  limit: "text", value: "number", times: "number", last_ms: "number",
});
export type LimitReached = TypeOf<typeof LimitReached>;

/** A room of the log. */
export const LogRoom = fields({
  room: "text", level: "text",
});
export type LogRoom = TypeOf<typeof LogRoom>;

/** A log server, and what it got. */
export const LogServerStatus = fields({
  server: "text", sent: "number", lost: "number", waiting: "number", is_failing: "truth", failure: orNull("text"),
});
export type LogServerStatus = TypeOf<typeof LogServerStatus>;

/** The log: its levels, and the log servers. */
export const LogStatus = fields({
  rooms: list(LogRoom), servers: list(LogServerStatus),
});
export type LogStatus = TypeOf<typeof LogStatus>;

/** What is published below the first two levels of a topic: since the start, and per second. */
export const PrefixRate = fields({
  prefix: "text", messages: "number", bytes: "number", deliveries: "number", messages_s: "number", bytes_s: "number",
});
export type PrefixRate = TypeOf<typeof PrefixRate>;

/** The newest message of a topic that is not a parameter. */
export const TopicValue = fields({
  topic: "text", text: orNull("text"), bytes: "number", at_ms: "number", count: "number",
});
export type TopicValue = TypeOf<typeof TopicValue>;

/** An event, as in the log. */
export const BrokerEvent = fields({
  at_ms: "number", level: "text", kind: "text", text: "text",
});
export type BrokerEvent = TypeOf<typeof BrokerEvent>;

/** The broker as the page shows it. */
export const LiveMessage = fields({
  totals: Totals, clients_total: "number", sessions_total: "number", sessions_away: "number",
  subscriptions_total: "number", topics_total: "number", retained: RetainedMessages, waiting: WaitingMessages,
  memory: MemoryUse, at_ms: "number", broker: BrokerSummary, rates: TrafficCounts, table: TableFigures,
  alarms: AlarmSummary, streams: StreamFigures, requests: RequestFigures, clients: list(ClientStatus),
  away: list(AwayStatus), holders: list(SessionStatus), owners: list(OwnerShare), limits: list(LimitReached),
  log: LogStatus, prefixes: list(PrefixRate), values: list(TopicValue), events: list(BrokerEvent),
});
export type LiveMessage = TypeOf<typeof LiveMessage>;
