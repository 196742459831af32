// Live messages taken in: what the page then knows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConsoleState } from "../src/model/console-state.ts";
import type { LiveMessage } from "../src/model/contract.ts";
import { EVENTS_MAX, EventLog } from "../src/model/event-log.ts";
import { NotUnderstood } from "../src/model/fields.ts";
import { parseLiveMessage } from "../src/model/parse.ts";
import { journalSource } from "./journal-source.ts";

const RATES = { messages_in: 1, messages_out: 0, bytes_in: 1, bytes_out: 0, dropped: 0, expired: 0 };
const TABLE = {
  parameters: 0,
  stale: 0,
  selections: 0,
  frames: 0,
  samples: 0,
  refused: 0,
  frames_s: 0,
  samples_s: 0,
  refused_s: 0,
};
const JOURNAL_OFF = journalSource({ state: "off" });

function source(changes: object = {}): string {
  return JSON.stringify({
    at_ms: 1_000,
    broker: { name: "lab", version: "0.1.0", uptime_s: 1, mqtt: "127.0.0.1:1883", journal: JOURNAL_OFF },
    rates: RATES,
    totals: { ...RATES, connections: 1 },
    clients: [],
    away: [],
    clients_total: 0,
    sessions_total: 0,
    sessions_away: 0,
    subscriptions_total: 0,
    retained: { messages: 0, bytes: 0 },
    waiting: { messages: 0, bytes: 0 },
    memory: { bytes: 1, budget: 4 },
    holders: [{ client_id: "slow", owner: "user:anna", state: "away", queued_messages: 1, queued_bytes: 9 }],
    owners: [{ limit: "sessions", owner: "user:anna", held: 1, most: 75 }],
    limits: [{ limit: "queue_messages", value: 100, times: 2, last_ms: 1 }],
    prefixes: [{ prefix: "a", messages: 1, bytes: 1, deliveries: 0, messages_s: 0, bytes_s: 0 }],
    table: TABLE,
    streams: { streams: 0, readers: 0, lost: 0, refused: 0, shown: [] },
    topics_total: 1,
    values: [{ topic: "a", text: "1", bytes: 1, at_ms: 999, count: 1 }],
    events: [{ at_ms: 1, level: "info", kind: "connected", text: "a connected" }],
    ...changes,
  });
}

function message(changes: object = {}): LiveMessage {
  return parseLiveMessage(source(changes));
}

test("a message of the contract is understood, the journal's nulls included", () => {
  const parsed = message();
  assert.equal(parsed.broker.journal.next_offset, null);
  assert.equal(parsed.values[0]?.topic, "a");
  assert.equal(parsed.limits[0]?.times, 2);
  assert.equal(parsed.memory.budget, 4);
  assert.equal(parsed.holders[0]?.state, "away");
  assert.equal(parsed.owners[0]?.most, 75);
  assert.equal(parsed.prefixes[0]?.prefix, "a");
});

test("fields that the page does not know yet do no harm", () => {
  assert.equal("quality" in message({ quality: "good" }), false);
});

test("what is not in the contract is refused with the name of the field", () => {
  assert.throws(() => parseLiveMessage("{"), NotUnderstood);
  assert.throws(() => parseLiveMessage("[]"), /"message" is not an object/);
  assert.throws(() => message({ values: [{ topic: 7 }] }), /"topic" is not text/);
  assert.throws(() => message({ topics_total: null }), /"topics_total" is not a number/);
});

test("later messages add, the first of a new connection replaces", () => {
  const state = new ConsoleState();
  state.receive(message(), true, 0);
  const b = { topic: "b", text: "2", bytes: 1, at_ms: 1_200, count: 1 };
  state.receive(message({ values: [b], topics_total: 2, at_ms: 1_250 }), false, 250);
  assert.equal(state.values.size, 2);
  assert.equal(state.events.newestFirst.length, 2);
  state.receive(message({ values: [b], topics_total: 1, at_ms: 1_500 }), true, 500);
  assert.equal(state.values.get("a"), undefined);
  assert.equal(state.events.newestFirst.length, 1);
});

test("a first message that could not carry every topic forgets none", () => {
  const state = new ConsoleState();
  state.receive(message(), true, 0);
  state.receive(message({ values: [], topics_total: 9_000 }), true, 500);
  assert.equal(state.values.size, 1);
});

test("a silence of the broker is a gap in every chart, a usual interval is none", () => {
  const state = new ConsoleState();
  for (const [index, at_ms] of [1_000, 1_250, 9_000].entries()) {
    const values = [{ topic: "a", text: "1", bytes: 1, at_ms: at_ms - 1, count: index + 1 }];
    state.receive(message({ at_ms, values }), false, at_ms);
  }
  assert.deepEqual([...(state.values.get("a")?.history.series().values ?? [])], [1, 1, Number.NaN, 1]);
  assert.deepEqual([...state.traffic.messages_in.series().values], [1, 1, Number.NaN, 1]);
});

test("the event log is newest first and bounded", () => {
  const log = new EventLog();
  const events = Array.from({ length: EVENTS_MAX + 5 }, (_, at_ms) => ({ at_ms, level: "info", kind: "k", text: "t" }));
  log.append(events);
  assert.equal(log.newestFirst.length, EVENTS_MAX);
  assert.equal(log.newestFirst[0]?.at_ms, EVENTS_MAX + 4);
});
