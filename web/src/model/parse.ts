// Turns the text of a live message into its type, or throws `NotUnderstood`. Past this edge the types are trusted.
import type {
  Broker,
  BrokerEvent,
  Client,
  Journal,
  LimitReached,
  LiveMessage,
  PrefixTraffic,
  Rates,
  TopicValue,
  Totals,
} from "./contract.ts";

/** The broker sent something that is not in the contract: usually a page older or newer than the broker. */
export class NotUnderstood extends Error {}

type Json = Record<string, unknown>;

function fail(name: string, expected: string): never {
  throw new NotUnderstood(`"${name}" is not ${expected}`);
}

function object(value: unknown, name: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(name, "an object");
  return value as Json;
}

function number(from: Json, name: string): number {
  const value = from[name];
  return typeof value === "number" ? value : fail(name, "a number");
}

function text(from: Json, name: string): string {
  const value = from[name];
  return typeof value === "string" ? value : fail(name, "text");
}

function numberOrNull(from: Json, name: string): number | null {
  return from[name] === null ? null : number(from, name);
}

function textOrNull(from: Json, name: string): string | null {
  return from[name] === null ? null : text(from, name);
}

function list<T>(from: Json, name: string, item: (row: Json) => T): T[] {
  const value = from[name];
  if (!Array.isArray(value)) fail(name, "a list");
  return value.map((row) => item(object(row, name)));
}

function journal(row: Json): Journal {
  const state = text(row, "state");
  if (state !== "ok" && state !== "failed" && state !== "off") fail("state", "ok, failed or off");
  return {
    state,
    reason: textOrNull(row, "reason"),
    first_offset: numberOrNull(row, "first_offset"),
    next_offset: numberOrNull(row, "next_offset"),
    synced_offset: numberOrNull(row, "synced_offset"),
    bytes: numberOrNull(row, "bytes"),
    segments: numberOrNull(row, "segments"),
    not_journaled: numberOrNull(row, "not_journaled"),
  };
}

function broker(row: Json): Broker {
  return {
    name: text(row, "name"),
    version: text(row, "version"),
    uptime_s: number(row, "uptime_s"),
    mqtt: text(row, "mqtt"),
    journal: journal(object(row["journal"], "journal")),
  };
}

function rates(row: Json): Rates {
  return {
    messages_in: number(row, "messages_in"),
    messages_out: number(row, "messages_out"),
    bytes_in: number(row, "bytes_in"),
    bytes_out: number(row, "bytes_out"),
    dropped: number(row, "dropped"),
    expired: number(row, "expired"),
  };
}

function totals(row: Json): Totals {
  return { ...rates(row), connections: number(row, "connections") };
}

function client(row: Json): Client {
  const subscriptions = row["subscriptions"];
  if (!Array.isArray(subscriptions)) fail("subscriptions", "a list");
  return {
    client_id: text(row, "client_id"),
    address: text(row, "address"),
    listener: text(row, "listener"),
    user: textOrNull(row, "user"),
    protocol: text(row, "protocol"),
    connected_s: number(row, "connected_s"),
    messages_in: number(row, "messages_in"),
    messages_out: number(row, "messages_out"),
    dropped: number(row, "dropped"),
    expired: number(row, "expired"),
    queued_messages: number(row, "queued_messages"),
    queued_bytes: number(row, "queued_bytes"),
    inflight: number(row, "inflight"),
    subscriptions: subscriptions.map(String),
  };
}

function limitReached(row: Json): LimitReached {
  return {
    limit: text(row, "limit"),
    value: number(row, "value"),
    times: number(row, "times"),
    last_ms: number(row, "last_ms"),
  };
}

function prefixTraffic(row: Json): PrefixTraffic {
  return {
    prefix: text(row, "prefix"),
    messages: number(row, "messages"),
    bytes: number(row, "bytes"),
    deliveries: number(row, "deliveries"),
    messages_s: number(row, "messages_s"),
    bytes_s: number(row, "bytes_s"),
  };
}

function retained(row: Json): LiveMessage["retained"] {
  return { messages: number(row, "messages"), bytes: number(row, "bytes") };
}

function topicValue(row: Json): TopicValue {
  return {
    topic: text(row, "topic"),
    text: textOrNull(row, "text"),
    bytes: number(row, "bytes"),
    at_ms: number(row, "at_ms"),
    count: number(row, "count"),
  };
}

function brokerEvent(row: Json): BrokerEvent {
  return {
    at_ms: number(row, "at_ms"),
    level: text(row, "level"),
    kind: text(row, "kind"),
    text: text(row, "text"),
  };
}

function decode(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new NotUnderstood("not JSON");
  }
}

export function parseLiveMessage(source: string): LiveMessage {
  const root = object(decode(source), "message");
  return {
    at_ms: number(root, "at_ms"),
    broker: broker(object(root["broker"], "broker")),
    rates: rates(object(root["rates"], "rates")),
    totals: totals(object(root["totals"], "totals")),
    clients: list(root, "clients", client),
    clients_total: number(root, "clients_total"),
    sessions_total: number(root, "sessions_total"),
    sessions_away: number(root, "sessions_away"),
    subscriptions_total: number(root, "subscriptions_total"),
    retained: retained(object(root["retained"], "retained")),
    limits: list(root, "limits", limitReached),
    prefixes: list(root, "prefixes", prefixTraffic),
    topics_total: number(root, "topics_total"),
    values: list(root, "values", topicValue),
    events: list(root, "events", brokerEvent),
  };
}
