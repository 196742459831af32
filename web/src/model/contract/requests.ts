// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, oneOf, orNull, type TypeOf } from "../shape.ts";

/** How many requests are in a state, or ended so. */
export const RequestCount = fields({
  state: oneOf("new", "stored", "delivered", "answered", "answer stored", "answer delivered", "request not delivered",
  "answer not delivered", "cancelled", "timed out", "failed", "dropped"), count: "number",
});
export type RequestCount = TypeOf<typeof RequestCount>;

/** Requests: how many there are now, and what became of the others. */
export const RequestFigures = fields({
  asked: "number", open: "number", topics: "number", services: "number", room: "number", retried: "number",
  parts: "number", late: "number", refused: "number", p50_ms: orNull("number"), p99_ms: orNull("number"),
  states: list(RequestCount), ends: list(RequestCount),
});
export type RequestFigures = TypeOf<typeof RequestFigures>;

/** One request. */
export const RequestStatus = fields({
  key: "text", topic: "text", state: oneOf("new", "stored", "delivered", "answered", "answer stored",
  "answer delivered", "request not delivered", "answer not delivered", "cancelled", "timed out", "failed", "dropped"),
  asker: "text", service: orNull("text"), priority: oneOf("high", "normal", "low"), payload_bytes: "number",
  asked_ms: "number", stored_ms: orNull("number"), delivered_ms: orNull("number"), ended_ms: orNull("number"),
  times_out_ms: orNull("number"), reason: orNull("text"),
});
export type RequestStatus = TypeOf<typeof RequestStatus>;

/** One service of requests. */
export const ServiceStatus = fields({
  client_id: "text", connected: "truth", busy: "number", limit: "number", answered: "number", failed: "number",
  p50_ms: orNull("number"), p99_ms: orNull("number"),
});
export type ServiceStatus = TypeOf<typeof ServiceStatus>;

/** The open requests of one topic. */
export const TopicRequests = fields({
  topic: "text", open: "number", stored: "number",
});
export type TopicRequests = TypeOf<typeof TopicRequests>;

/** Messages of one topic that wait for their first subscriber. */
export const WaitingTopic = fields({
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

/** One subscription that matches a topic. */
export const SubscriberStatus = fields({
  client_id: "text", connected: "truth", filter: "text", qos: "number", share: orNull("text"), serve: "number",
  priority: orNull("text"),
});
export type SubscriberStatus = TypeOf<typeof SubscriberStatus>;

/** One selection that has a parameter. */
export const SelectionStatus = fields({
  client_id: "text", connected: "truth", filter: "text", rate_hz: orNull("number"),
});
export type SelectionStatus = TypeOf<typeof SelectionStatus>;
