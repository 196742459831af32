// Events by level and text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenEvents } from "../src/model/event-choice.ts";
import { clientFacts, eventsOf } from "../src/model/client-wording.ts";
import { NO_RATE } from "../src/model/client-rates.ts";
import { LiveMessage } from "../src/model/contract.ts";
import { blank } from "./blank.ts";

const EVENTS = [
  { at_ms: 3, level: "error", kind: "failed", text: "journal: a disk is gone" },
  { at_ms: 2, level: "warning", kind: "dropped", text: "a lost 3 messages" },
  { at_ms: 1, level: "info", kind: "connected", text: "ab connected" },
  { at_ms: 0, level: "strange", kind: "other", text: "a did something" },
];

function times(level: string, text = ""): number[] {
  return chosenEvents(EVENTS, { level, text }).map(({ at_ms }) => at_ms);
}

test("events from a level on are shown, and those whose level is not known", () => {
  assert.deepEqual(times("debug"), [3, 2, 1, 0]);
  assert.deepEqual(times("warning"), [3, 2, 0]);
  assert.deepEqual(times("error"), [3, 0]);
});

test("a text is searched in kind and words, in upper and lower case", () => {
  assert.deepEqual(times("debug", " DROPPED "), [2]);
  assert.deepEqual(times("debug", "disk"), [3]);
});

test("events of a client are those that begin with its name, not with a part of it", () => {
  assert.deepEqual(eventsOf(EVENTS, "a", 9).map(({ at_ms }) => at_ms), [2, 0]);
  assert.equal(eventsOf(EVENTS, "a", 1).length, 1);
  assert.deepEqual(eventsOf(EVENTS, "", 9), []);
});

test("every fact about a client is in words", () => {
  const client = { ...blank(LiveMessage.fields.clients.list), client_id: "a", listener: "mqtt", address: "10.0.0.1:5" };
  const facts = new Map(clientFacts(client, { ...NO_RATE, dropped_s: 2 }));
  assert.equal(facts.get("Keeps up"), "slow: loses messages");
  assert.equal(facts.get("Address"), "10.0.0.1:5, by listener mqtt");
  assert.equal(facts.get("User"), "none");
});
