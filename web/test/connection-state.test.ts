// When what is shown counts as live, stale or lost, and when to try again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freshness, type ConnectionState, retryDelayMs } from "../src/model/connection-state.ts";

const OPEN: ConnectionState = { kind: "open" };
const CONNECTING: ConnectionState = { kind: "connecting" };

test("an open connection heard within two seconds is live", () => {
  const { text, stale } = freshness(OPEN, 1_000, 2_900);
  assert.deepEqual({ text, stale }, { text: "live", stale: false });
});

test("an open connection that says nothing for more than two seconds is not live", () => {
  const { condition, text, stale } = freshness(OPEN, 1_000, 6_000);
  assert.deepEqual({ condition, text, stale }, { condition: "silent", text: "nothing new for 5 s", stale: true });
});

test("no other state says live", () => {
  const waiting: ConnectionState = { kind: "waiting", retry_at_ms: 9_000 };
  for (const state of [CONNECTING, waiting]) {
    for (const heard of [null, 5_000, 0]) assert.doesNotMatch(freshness(state, heard, 5_500).text, /live/);
  }
});

test("a wait counts down in whole seconds", () => {
  const state: ConnectionState = { kind: "waiting", retry_at_ms: 9_000 };
  assert.equal(freshness(state, 5_000, 6_100).text, "reconnecting in 3 s");
  assert.equal(freshness(CONNECTING, 5_000, 9_100).text, "reconnecting now");
});

test("after a minute the connection is lost, and the page says how old its data is", () => {
  const state: ConnectionState = { kind: "waiting", retry_at_ms: 70_000 };
  const { text, shown_age } = freshness(state, 0, 65_000);
  assert.deepEqual({ text, shown_age }, { text: "lost, trying again in 5 s", shown_age: "1 min" });
});

test("before the first message nothing is stale, because nothing is shown", () => {
  assert.deepEqual(freshness(CONNECTING, null, 60_000), {
    condition: "connecting",
    text: "connecting",
    stale: false,
    shown_age: null,
  });
});

test("retries wait longer and longer, up to a bound, and not all at the same time", () => {
  assert.deepEqual([0, 1, 2, 3].map((attempt) => retryDelayMs(attempt, 0.5)), [500, 1_000, 2_000, 4_000]);
  assert.equal(retryDelayMs(50, 0.5), 10_000);
  assert.notEqual(retryDelayMs(3, 0), retryDelayMs(3, 0.9));
});
