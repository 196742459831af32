// The newest values by topic, whatever the names.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TopicValue } from "../src/model/contract.ts";
import { numericReading } from "../src/model/reading.ts";
import { topicTest } from "../src/model/topic-filter.ts";
import { TOPICS_MAX, ValueStore } from "../src/model/value-store.ts";

function value(topic: string, text: string | null = "1", at_ms = 0, count = 1): TopicValue {
  return { topic, text, bytes: text?.length ?? 3, at_ms, count };
}

function topicsOf(store: ValueStore, filter = ""): string[] {
  return store.select(topicTest(filter)).map((record) => record.topic);
}

test("topics come in the order of their names, numbers as numbers", () => {
  const store = new ValueStore();
  store.update([value("cell/10"), value("cell/2"), value("battery")]);
  assert.deepEqual(topicsOf(store), ["battery", "cell/2", "cell/10"]);
});

test("a topic named after an object's insides is a topic like any other", () => {
  const store = new ValueStore();
  store.update([value("__proto__", "7"), value("constructor"), value("toString")]);
  assert.equal(store.get("__proto__")?.reading, 7);
  assert.equal(store.get("hasOwnProperty"), undefined);
  assert.equal(store.size, 3);
});

test("the store is full at its bound, and known topics still change", () => {
  const store = new ValueStore();
  store.update(Array.from({ length: TOPICS_MAX + 10 }, (_, index) => value(`t/${index}`)));
  store.update([value("t/0", "2", 1, 2)]);
  assert.equal(store.size, TOPICS_MAX);
  assert.equal(store.get(`t/${TOPICS_MAX}`), undefined);
  assert.equal(store.get("t/0")?.newest.text, "2");
});

test("a complete message removes what the broker no longer knows and keeps the history of the rest", () => {
  const store = new ValueStore();
  store.update([value("old"), value("kept", "1", 0, 1)]);
  store.replace([value("kept", "2", 10, 2), value("new")]);
  assert.deepEqual(topicsOf(store), ["kept", "new"]);
  assert.equal(store.get("kept")?.history.length, 2);
});

test("a change of a value is no change of the set of topics", () => {
  const store = new ValueStore();
  store.update([value("a")]);
  const before = store.revision;
  store.update([value("a", "2", 1, 2)]);
  assert.equal(store.revision, before);
});

test("only numbers go into the history", () => {
  const store = new ValueStore();
  store.update([value("a", "1", 0, 1)]);
  store.update([value("a", "TAXI", 1, 2)]);
  store.update([value("a", null, 2, 3)]);
  assert.equal(store.get("a")?.history.length, 1);
  assert.equal(store.get("a")?.reading, null);
});

test("a reading is plain decimal writing and nothing else", () => {
  for (const text of ["42", "-1.5", "+.5", "1e-3", " 7 \n", "3."]) assert.equal(numericReading(text), Number(text));
  const others = ["", " ", "0x10", "NaN", "Infinity", "1e999", "1,5", "12 V", "true", "1".repeat(65), null];
  for (const text of others) assert.equal(numericReading(text), null);
});
