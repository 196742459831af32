// How often a topic comes, from its counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cadence } from "../src/model/cadence.ts";

function observed(period_ms: number, messages: number, every = 1): Cadence {
  const cadence = new Cadence();
  for (let index = 0; index < messages; index += every) cadence.observe(index * period_ms, index + 1);
  return cadence;
}

test("one observation tells no rate and is never silent", () => {
  const cadence = observed(100, 1);
  assert.equal(cadence.perSecond(0), null);
  assert.equal(cadence.isSilent(1e9), false);
});

test("a topic at 1,000 Hz seen four times a second has a rate of 1,000", () => {
  const cadence = observed(1, 20_001, 250);
  assert.equal(cadence.perSecond(20_100), 1_000);
});

test("a topic every ten seconds is not called silent between its messages", () => {
  const cadence = observed(10_000, 6);
  assert.equal(cadence.perSecond(59_000), 0.1);
  assert.equal(cadence.isSilent(59_000), false);
});

test("a topic that missed five messages is silent and its rate is 0", () => {
  const cadence = observed(1_000, 10);
  assert.equal(cadence.isSilent(9_000 + 4_900), false);
  assert.equal(cadence.isSilent(9_000 + 5_100), true);
  assert.equal(cadence.perSecond(9_000 + 5_100), 0);
});

test("a fast topic is not called silent within two seconds: the page itself is slower than it", () => {
  const cadence = observed(10, 1_000);
  assert.equal(cadence.isSilent(9_990 + 1_900), false);
  assert.equal(cadence.isSilent(9_990 + 2_100), true);
});

test("the rate follows a change within the window", () => {
  const cadence = observed(100, 100);
  for (let index = 1; index <= 80; index += 1) cadence.observe(9_900 + index * 1_000, 100 + index);
  assert.equal(cadence.perSecond(89_900), 1);
});

test("a count that goes back starts anew instead of giving a negative rate", () => {
  const cadence = observed(100, 100);
  cadence.observe(20_000, 1);
  assert.equal(cadence.perSecond(20_000), null);
  cadence.observe(21_000, 6);
  assert.equal(cadence.perSecond(21_000), 5);
});
