// The broker's clock as the page knows it: ages by it, never by the visitor's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokerClock } from "../src/model/broker-clock.ts";

const BROKER_MS = 1_700_000_000_000;

/** A clock that heard a message without delay each 250 ms, for `seconds`. */
function steady(seconds: number): BrokerClock {
  const clock = new BrokerClock();
  for (let at = 0; at <= seconds * 1_000; at += 250) clock.observe(BROKER_MS + at, at, at === 0);
  return clock;
}

test("nothing is known before the first message", () => {
  const clock = new BrokerClock();
  assert.equal(clock.now(5), null);
  assert.equal(clock.heard_at_ms, null);
});

test("the broker's time goes on between messages", () => {
  assert.equal(steady(1).now(1_400), BROKER_MS + 1_400);
});

test("a message that waited five seconds in a queue counts as five seconds old", () => {
  const clock = steady(10);
  clock.observe(BROKER_MS + 10_250, 15_250, false);
  assert.ok(Math.abs((clock.heard_at_ms ?? 0) - 10_250) < 2);
  assert.ok(Math.abs((clock.now(15_250) ?? 0) - (BROKER_MS + 15_250)) < 2);
});

test("clocks that drift apart over a day do not make messages look late", () => {
  const clock = new BrokerClock();
  const DAY_MS = 86_400_000;
  for (let at = 0; at <= DAY_MS; at += 10_000) clock.observe(BROKER_MS + at * (1 - 0.000_1), at, at === 0);
  assert.ok(DAY_MS - (clock.heard_at_ms ?? 0) < 5);
});

test("a broker's clock that is set, back or ahead, is followed at once", () => {
  for (const step of [-3_600_000, 3_600_000]) {
    const clock = steady(10);
    clock.observe(BROKER_MS + 10_250 + step, 10_250, false);
    assert.equal(clock.heard_at_ms, 10_250);
  }
});

test("a new connection starts anew", () => {
  const clock = steady(10);
  clock.observe(BROKER_MS + 11_000, 14_000, true);
  assert.equal(clock.heard_at_ms, 14_000);
});
