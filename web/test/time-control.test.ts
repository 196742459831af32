// Which time is shown: live, standing still, or played again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SPAN_MS_MIN, TimeControl } from "../src/model/time-control.ts";

test("live follows the broker's clock", () => {
  const time = new TimeControl();
  assert.deepEqual(time.window(1_000_000), { from_ms: 700_000, to_ms: 1_000_000 });
  assert.equal(time.shown(1_000_500), 1_000_500);
});

test("a pause stands still at what was shown", () => {
  const time = new TimeControl();
  time.pause(5_000);
  assert.equal(time.mode, "paused");
  assert.equal(time.shown(9_000), 5_000);
});

test("a replay runs at its speed from the time that was chosen", () => {
  const time = new TimeControl();
  time.seek(1_000, 100_000);
  time.play(10, 100_000);
  assert.equal(time.mode, "replay");
  assert.equal(time.shown(100_500), 6_000);
});

test("another speed goes on from what is shown", () => {
  const time = new TimeControl();
  time.seek(0, 1_000_000);
  time.play(100, 1_000_000);
  time.play(0.1, 1_001_000);
  assert.equal(time.shown(1_002_000), 100_100);
});

test("a replay that reaches now is live", () => {
  const time = new TimeControl();
  time.seek(99_000, 100_000);
  time.play(2, 100_000);
  assert.equal(time.shown(101_000), 101_000);
  assert.equal(time.mode, "live");
});

test("nothing beyond now is shown, and no span is beyond its bounds", () => {
  const time = new TimeControl();
  time.seek(200_000, 100_000);
  assert.equal(time.shown(150_000), 100_000);
  time.setSpan(0);
  assert.equal(time.span_ms, SPAN_MS_MIN);
});
