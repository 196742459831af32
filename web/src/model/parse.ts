// Turns the text of a live message into its type, or throws `NotUnderstood`. Past this edge the types are trusted.
import type {
  Amount,
  AwaySession,
  Broker,
  BrokerEvent,
  Client,
  Holder,
  LimitReached,
  LiveMessage,
  Memory,
  OwnerShare,
  PrefixTraffic,
  Rates,
  Stream,
  StreamFigures,
  TableFigures,
  TopicValue,
  Totals,
} from "./contract.ts";
import { decode, type Json, list, number, numberOrNull, object, text, textOrNull, texts, truth, word } from "./fields.ts";
import { journal } from "./parse-journal.ts";

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
    subscriptions: texts(row, "subscriptions"),
  };
}

function awaySession(row: Json): AwaySession {
  return {
    client_id: text(row, "client_id"),
    user: textOrNull(row, "user"),
    since_ms: number(row, "since_ms"),
    expires_s: numberOrNull(row, "expires_s"),
    queued_messages: number(row, "queued_messages"),
    queued_bytes: number(row, "queued_bytes"),
    subscriptions: texts(row, "subscriptions"),
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

function memory(row: Json): Memory {
  return { bytes: number(row, "bytes"), budget: number(row, "budget") };
}

function holder(row: Json): Holder {
  return {
    client_id: text(row, "client_id"),
    owner: text(row, "owner"),
    state: word(row, "state", ["connected", "away"] as const),
    queued_messages: number(row, "queued_messages"),
    queued_bytes: number(row, "queued_bytes"),
  };
}

function ownerShare(row: Json): OwnerShare {
  return {
    limit: text(row, "limit"),
    owner: text(row, "owner"),
    held: number(row, "held"),
    most: number(row, "most"),
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

function amount(row: Json): Amount {
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

function tableFigures(row: Json): TableFigures {
  return {
    parameters: number(row, "parameters"),
    stale: number(row, "stale"),
    selections: number(row, "selections"),
    frames: number(row, "frames"),
    samples: number(row, "samples"),
    refused: number(row, "refused"),
    frames_s: number(row, "frames_s"),
    samples_s: number(row, "samples_s"),
    refused_s: number(row, "refused_s"),
  };
}

function stream(row: Json): Stream {
  return {
    name: text(row, "name"),
    media: text(row, "media"),
    live: truth(row, "live"),
    publishers: number(row, "publishers"),
    kept_chunks: number(row, "kept_chunks"),
    kept_bytes: number(row, "kept_bytes"),
    buffer_bytes: number(row, "buffer_bytes"),
    chunks_s: number(row, "chunks_s"),
    bytes_s: number(row, "bytes_s"),
    received_ms: numberOrNull(row, "received_ms"),
  };
}

function streamFigures(row: Json): StreamFigures {
  return {
    streams: number(row, "streams"),
    readers: number(row, "readers"),
    lost: number(row, "lost"),
    refused: number(row, "refused"),
    shown: list(row, "shown", stream),
  };
}

export function parseLiveMessage(source: string): LiveMessage {
  const root = object(decode(source), "message");
  return {
    at_ms: number(root, "at_ms"),
    broker: broker(object(root["broker"], "broker")),
    rates: rates(object(root["rates"], "rates")),
    totals: totals(object(root["totals"], "totals")),
    clients: list(root, "clients", client),
    away: list(root, "away", awaySession),
    clients_total: number(root, "clients_total"),
    sessions_total: number(root, "sessions_total"),
    sessions_away: number(root, "sessions_away"),
    subscriptions_total: number(root, "subscriptions_total"),
    retained: amount(object(root["retained"], "retained")),
    waiting: amount(object(root["waiting"], "waiting")),
    memory: memory(object(root["memory"], "memory")),
    holders: list(root, "holders", holder),
    owners: list(root, "owners", ownerShare),
    limits: list(root, "limits", limitReached),
    prefixes: list(root, "prefixes", prefixTraffic),
    table: tableFigures(object(root["table"], "table")),
    streams: streamFigures(object(root["streams"], "streams")),
    topics_total: number(root, "topics_total"),
    values: list(root, "values", topicValue),
    events: list(root, "events", brokerEvent),
  };
}
