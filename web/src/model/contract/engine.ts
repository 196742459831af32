// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, oneOf, orNull, type TypeOf } from "../shape.ts";

/** What went through the broker since the start. */
export const Totals = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number", connections: "number",
});
export type Totals = TypeOf<typeof Totals>;

/** Retained messages, without the broker's own. */
export const RetainedMessages = fields({
  messages: "number", bytes: "number",
});
export type RetainedMessages = TypeOf<typeof RetainedMessages>;

/** Messages that wait for their first subscriber. */
export const WaitingMessages = fields({
  messages: "number", bytes: "number",
});
export type WaitingMessages = TypeOf<typeof WaitingMessages>;

/** What the memory of all that waits is made of, in bytes. */
export const MemoryParts = fields({
  outboxes: "number", queues: "number", waiting: "number", retained: "number", requests: "number", journal: "number",
  other: "number",
});
export type MemoryParts = TypeOf<typeof MemoryParts>;

/** Messages dropped because memory was short, since the start. */
export const VictimCounts = fields({
  outboxes: "number", queues: "number", waiting: "number", retained: "number", requests: "number",
});
export type VictimCounts = TypeOf<typeof VictimCounts>;

/** Memory of all that waits for others. */
export const MemoryUse = fields({
  bytes: "number", budget: "number", parts: MemoryParts, victims: VictimCounts,
});
export type MemoryUse = TypeOf<typeof MemoryUse>;

/** QoS 1 and 2 messages since the start, by their durability then. */
export const Acknowledged = fields({
  memory: "number", process: "number", disk: "number",
});
export type Acknowledged = TypeOf<typeof Acknowledged>;

/** What came from clients and went to them: since the start, or per second. */
export const TrafficCounts = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number",
});
export type TrafficCounts = TypeOf<typeof TrafficCounts>;

/** A connected client. */
export const ClientStatus = fields({
  messages_in: "number", messages_out: "number", bytes_in: "number", bytes_out: "number", dropped: "number",
  expired: "number", client_id: "text", address: "text", listener: "text", user: orNull("text"), protocol: "text",
  connected_s: "number", samples_in: "number", queued_messages: "number", queued_bytes: "number", inflight: "number",
  slowed: "truth", subscriptions: list("text"),
});
export type ClientStatus = TypeOf<typeof ClientStatus>;

/** A session whose client is away. */
export const AwayStatus = fields({
  client_id: "text", user: orNull("text"), since_ms: "number", expires_s: orNull("number"), queued_messages: "number",
  queued_bytes: "number", subscriptions: list("text"),
});
export type AwayStatus = TypeOf<typeof AwayStatus>;

/** A session, connected or away: its owner, and what it holds. */
export const SessionStatus = fields({
  client_id: "text", user: orNull("text"), owner: "text", state: oneOf("connected", "away"), address: orNull("text"),
  since_ms: "number", kept: "truth", expires_s: orNull("number"), queued_messages: "number", queued_bytes: "number",
  subscriptions: "number", parameters: "number",
});
export type SessionStatus = TypeOf<typeof SessionStatus>;

/** What one owner holds of a limit that has quotas. */
export const OwnerShare = fields({
  limit: "text", owner: "text", held: "number", most: "number",
});
export type OwnerShare = TypeOf<typeof OwnerShare>;
