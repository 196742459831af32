// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, oneOf, orNull, type TypeOf } from "./shape.ts";

/** What went through the broker since the start. */
const Totals = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number", connections: "number",
});
export type Totals = TypeOf<typeof Totals>;

/** Retained messages, without the broker's own. */
const RetainedMessages = fields({
  messages: "number", bytes: "number",
});
export type RetainedMessages = TypeOf<typeof RetainedMessages>;

/** Messages that wait for their first subscriber. */
const WaitingMessages = fields({
  messages: "number", bytes: "number",
});
export type WaitingMessages = TypeOf<typeof WaitingMessages>;

/** What the memory of all that waits is made of, in bytes. */
const MemoryParts = fields({
  outboxes: "number", queues: "number", waiting: "number", retained: "number", requests: "number", journal: "number",
  other: "number",
});
export type MemoryParts = TypeOf<typeof MemoryParts>;

/** Messages dropped because memory was short, since the start. */
const VictimCounts = fields({
  outboxes: "number", queues: "number", waiting: "number", retained: "number", requests: "number",
});
export type VictimCounts = TypeOf<typeof VictimCounts>;

/** Memory of all that waits for others. */
const MemoryUse = fields({
  bytes: "number", budget: "number", parts: MemoryParts, victims: VictimCounts,
});
export type MemoryUse = TypeOf<typeof MemoryUse>;

/** The level of some topics. */
const DurabilityRule = fields({
  topics: list("text"), level: oneOf("memory", "process", "disk"),
});
export type DurabilityRule = TypeOf<typeof DurabilityRule>;

/** What the journal promises. */
const Durability = fields({
  default: oneOf("memory", "process", "disk"), journaled: list("text"), rules: list(DurabilityRule),
});
export type Durability = TypeOf<typeof Durability>;

/** QoS 1 and 2 messages since the start, by their durability then. */
const Acknowledged = fields({
  memory: "number", process: "number", disk: "number",
});
export type Acknowledged = TypeOf<typeof Acknowledged>;

/** What is removed from the journal. */
const Retention = fields({
  age_s: orNull("number"), bytes: orNull("number"), keep_unread: "truth",
});
export type Retention = TypeOf<typeof Retention>;

/** Rows that a job of the pipeline says it wrote to a table. */
const ConsumerRows = fields({
  table: "text", rows: "number", rows_s: "number", last_rows: "number",
});
export type ConsumerRows = TypeOf<typeof ConsumerRows>;

/** A consumer of the journal, and how far it has come. */
const ConsumerStatus = fields({
  name: "text", offset: orNull("number"), behind: orNull("number"), lag_s: orNull("number"),
  messages_s: orNull("number"), updated_ms: orNull("number"), rows: list(ConsumerRows), flaw: orNull("text"),
});
export type ConsumerStatus = TypeOf<typeof ConsumerStatus>;

/** The archive of the journal, and how far it is. */
const ArchiveStatus = fields({
  url: "text", first_offset: "number", end_offset: "number", behind: "number", segments: "number", bytes: "number",
  waiting: "number", failure: orNull("text"), is_failing: "truth", failures: "number", updated_ms: orNull("number"),
});
export type ArchiveStatus = TypeOf<typeof ArchiveStatus>;

/** A range of offsets that cannot be read, in words. */
const ShownDamage = fields({
  first_offset: "number", end_offset: "number", why: "text", text: "text",
});
export type ShownDamage = TypeOf<typeof ShownDamage>;

/** What the start found in the journal. */
const ReceiptSummary = fields({
  identity: "text", epoch: "number", first_offset: "number", next_offset: "number", segments: "number",
  bytes_read: "number", cut_bytes: "number", cut_why: orNull("text"), flaws: list("text"), sessions: "number",
  queued: "number", retained: "number", waiting: "number", requests: "number", seconds: "number", text: "text",
  kept: "number", damaged: "number", damage: list(ShownDamage), damage_total: "number",
});
export type ReceiptSummary = TypeOf<typeof ReceiptSummary>;

/** The journal: its state, what it promises, who reads it, what the start found. */
const JournalSummary = fields({
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
const BrokerSummary = fields({
  name: "text", source: "text", mark: orNull("text"), version: "text", uptime_s: "number", mqtt: "text",
  journal: JournalSummary,
});
export type BrokerSummary = TypeOf<typeof BrokerSummary>;

/** What came from clients and went to them: since the start, or per second. */
const TrafficCounts = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number",
});
export type TrafficCounts = TypeOf<typeof TrafficCounts>;

/** The current value table, with rates and ages. */
const TableFigures = fields({
  parameters: "number", stale: "number", value_bytes: "number", selections: "number", readers: "number",
  readers_newest: "number", frames: "number", samples: "number", refused: "number", frames_s: "number",
  samples_s: "number", refused_s: "number", aged: "number", age_p50_ms: orNull("number"),
  age_p99_ms: orNull("number"),
});
export type TableFigures = TypeOf<typeof TableFigures>;

/** One stream: what is kept of it, and how fast it comes. */
const StreamRate = fields({
  index: "number", name: "text", media: "text", live: "truth", publishers: "number", chunks: "number",
  received_bytes: "number", kept_chunks: "number", kept_bytes: "number", buffer_bytes: "number", chunks_s: "number",
  bytes_s: "number", received_ms: orNull("number"),
});
export type StreamRate = TypeOf<typeof StreamRate>;

/** The streams, and the first of them one by one. */
const StreamFigures = fields({
  streams: "number", readers: "number", kept_bytes: "number", chunks: "number", bytes: "number", delivered: "number",
  lost: "number", refused: "number", shown: list(StreamRate),
});
export type StreamFigures = TypeOf<typeof StreamFigures>;

/** How many requests are in a state, or ended so. */
const RequestCount = fields({
  state: oneOf("new", "stored", "delivered", "answered", "answer stored", "answer delivered", "request not delivered",
  "answer not delivered", "cancelled", "timed out", "failed", "dropped"), count: "number",
});
export type RequestCount = TypeOf<typeof RequestCount>;

/** Requests: how many there are now, and what became of the others. */
const RequestFigures = fields({
  asked: "number", open: "number", topics: "number", services: "number", room: "number", retried: "number",
  parts: "number", late: "number", refused: "number", p50_ms: orNull("number"), p99_ms: orNull("number"),
  states: list(RequestCount), ends: list(RequestCount),
});
export type RequestFigures = TypeOf<typeof RequestFigures>;

/** A connected client. */
const ClientStatus = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number", client_id: "text", address: "text", listener: "text", user: orNull("text"), protocol: "text",
  connected_s: "number", queued_messages: "number", queued_bytes: "number", inflight: "number", slowed: "truth",
  subscriptions: list("text"),
});
export type ClientStatus = TypeOf<typeof ClientStatus>;

/** A session whose client is away. */
const AwayStatus = fields({
  client_id: "text", user: orNull("text"), since_ms: "number", expires_s: orNull("number"), queued_messages: "number",
  queued_bytes: "number", subscriptions: list("text"),
});
export type AwayStatus = TypeOf<typeof AwayStatus>;

/** A session, connected or away: its owner, and what it holds. */
const SessionStatus = fields({
  client_id: "text", user: orNull("text"), owner: "text", state: oneOf("connected", "away"), address: orNull("text"),
  since_ms: "number", kept: "truth", expires_s: orNull("number"), queued_messages: "number", queued_bytes: "number",
  subscriptions: "number", parameters: "number",
});
export type SessionStatus = TypeOf<typeof SessionStatus>;

/** What one owner holds of a limit that has quotas. */
const OwnerShare = fields({
  limit: "text", owner: "text", held: "number", most: "number",
});
export type OwnerShare = TypeOf<typeof OwnerShare>;

/** A limit that was reached since the start. */
const LimitReached = fields({
  limit: "text", value: "number", times: "number", last_ms: "number",
});
export type LimitReached = TypeOf<typeof LimitReached>;

/** A room of the log. */
const LogRoom = fields({
  room: "text", level: "text",
});
export type LogRoom = TypeOf<typeof LogRoom>;

/** A log server, and what it got. */
const LogServerStatus = fields({
  server: "text", sent: "number", lost: "number", waiting: "number", is_failing: "truth", failure: orNull("text"),
});
export type LogServerStatus = TypeOf<typeof LogServerStatus>;

/** The log: its levels, and the log servers. */
const LogStatus = fields({
  rooms: list(LogRoom), servers: list(LogServerStatus),
});
export type LogStatus = TypeOf<typeof LogStatus>;

/** What is published below the first two levels of a topic: since the start, and per second. */
const PrefixRate = fields({
  prefix: "text", messages: "number", bytes: "number", deliveries: "number", messages_s: "number", bytes_s: "number",
});
export type PrefixRate = TypeOf<typeof PrefixRate>;

/** The newest message of a topic that is not a parameter. */
const TopicValue = fields({
  topic: "text", text: orNull("text"), bytes: "number", at_ms: "number", count: "number",
});
export type TopicValue = TypeOf<typeof TopicValue>;

/** An event, as in the log. */
const BrokerEvent = fields({
  at_ms: "number", level: "text", kind: "text", text: "text",
});
export type BrokerEvent = TypeOf<typeof BrokerEvent>;

/** The broker as the page shows it. */
export const LiveMessage = fields({
  totals: Totals, clients_total: "number", sessions_total: "number", sessions_away: "number",
  subscriptions_total: "number", topics_total: "number", retained: RetainedMessages, waiting: WaitingMessages,
  memory: MemoryUse, at_ms: "number", broker: BrokerSummary, rates: TrafficCounts, table: TableFigures,
  streams: StreamFigures, requests: RequestFigures, clients: list(ClientStatus), away: list(AwayStatus),
  holders: list(SessionStatus), owners: list(OwnerShare), limits: list(LimitReached), log: LogStatus,
  prefixes: list(PrefixRate), values: list(TopicValue), events: list(BrokerEvent),
});
export type LiveMessage = TypeOf<typeof LiveMessage>;

/** Alarm limits; null if there is no such limit. */
const AlarmBounds = fields({
  low_critical: orNull("number"), low: orNull("number"), high: orNull("number"), high_critical: orNull("number"),
});
export type AlarmBounds = TypeOf<typeof AlarmBounds>;

/** A parameter's definition; null is what it does not say. */
const ParameterDefinition = fields({
  index: "number", name: "text", type: "text", unit: orNull("text"), description: orNull("text"),
  range: orNull("pair"), limits: orNull(AlarmBounds), rate_hz: orNull("number"), source: orNull("text"),
});
export type ParameterDefinition = TypeOf<typeof ParameterDefinition>;

/** A parameter's newest value. */
const ParameterSample = fields({
  index: "number", value: "scalar", time_ms: "number", received_ms: "number", quality: "text", why: orNull("text"),
});
export type ParameterSample = TypeOf<typeof ParameterSample>;

/** The parameters that a search finds. */
export const ParametersMessage = fields({
  at_ms: "number", search: "text", parameters: "number", matching: "number",
  definitions: orNull(list(ParameterDefinition)), values: list(ParameterSample),
});
export type ParametersMessage = TypeOf<typeof ParametersMessage>;

/** One request. */
const RequestStatus = fields({
  key: "text", topic: "text", state: oneOf("new", "stored", "delivered", "answered", "answer stored",
  "answer delivered", "request not delivered", "answer not delivered", "cancelled", "timed out", "failed", "dropped"),
  asker: "text", service: orNull("text"), priority: oneOf("high", "normal", "low"), payload_bytes: "number",
  asked_ms: "number", stored_ms: orNull("number"), delivered_ms: orNull("number"), ended_ms: orNull("number"),
  times_out_ms: orNull("number"), reason: orNull("text"),
});
export type RequestStatus = TypeOf<typeof RequestStatus>;

/** One service of requests. */
const ServiceStatus = fields({
  client_id: "text", connected: "truth", busy: "number", limit: "number", answered: "number", failed: "number",
  p50_ms: orNull("number"), p99_ms: orNull("number"),
});
export type ServiceStatus = TypeOf<typeof ServiceStatus>;

/** The open requests of one topic. */
const TopicRequests = fields({
  topic: "text", open: "number", stored: "number",
});
export type TopicRequests = TypeOf<typeof TopicRequests>;

/** Messages of one topic that wait for their first subscriber. */
const WaitingTopic = fields({
  topic: "text", messages: "number", bytes: "number",
});
export type WaitingTopic = TypeOf<typeof WaitingTopic>;

/** What `/api/requests` answers. */
export const RequestsMessage = fields({
  at_ms: "number", figures: RequestFigures, requests: list(RequestStatus), services: list(ServiceStatus),
  topics: list(TopicRequests), waiting: list(WaitingTopic),
});
export type RequestsMessage = TypeOf<typeof RequestsMessage>;

/** What `/api/requests/KEY` answers. */
export const OneRequestMessage = fields({
  at_ms: "number", request: RequestStatus,
});
export type OneRequestMessage = TypeOf<typeof OneRequestMessage>;

/** Who a page's visitor is, and what they may do. */
export const ConsoleVisitor = fields({
  needs_login: "truth", has_users: "truth", user: orNull("text"), role: orNull("text"), watches: "text",
  administers: list("text"), csrf: orNull("text"), oidc: orNull("text"),
});
export type ConsoleVisitor = TypeOf<typeof ConsoleVisitor>;
