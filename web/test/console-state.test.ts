// Live messages taken in: what the page then knows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConsoleState } from "../src/model/console-state.ts";
import { LiveMessage } from "../src/model/contract.ts";
import { EVENTS_MAX, EventLog } from "../src/model/event-log.ts";
import { NotUnderstood, parse } from "../src/model/shape.ts";
import { blank } from "./blank.ts";

const FIELDS = LiveMessage.fields;

function source(changes: object = {}): string {
  return JSON.stringify(
    blank(LiveMessage, {
      at_ms: 1_000,
      rates: blank(FIELDS.rates, { messages_in: 1 }),
      memory: blank(FIELDS.memory, { bytes: 1, budget: 4 }),
      holders: [blank(FIELDS.holders.list, { state: "away" })],
      owners: [blank(FIELDS.owners.list, { most: 75 })],
      limits: [blank(FIELDS.limits.list, { times: 2 })],
      prefixes: [blank(FIELDS.prefixes.list, { prefix: "a" })],
      topics_total: 1,
      values: [{ topic: "a", text: "1", bytes: 1, at_ms: 999, count: 1 }],
      events: [{ at_ms: 1, level: "info", kind: "connected", text: "a connected" }],
      ...changes,
    }),
  );
}

function message(changes: object = {}): LiveMessage {
  return parse(LiveMessage, source(changes));
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
  assert.throws(() => parse(LiveMessage, "{"), NotUnderstood);
  assert.throws(() => parse(LiveMessage, "[]"), /"message" is not an object/);
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
