// What widgets draw: joined points, stretches of states, scales of gauges, lines of logs, values in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gaugeScale, share } from "../src/model/gauge-scale.ts";
import { eventLines, LOG_LINES_MAX, newestFirst, textLines } from "../src/model/log-lines.ts";
import { NewestValues, readNewest } from "../src/model/newest-values.ts";
import { labels, relativeNames } from "../src/model/relative-names.ts";
import { stateColour, stateRuns, type StateSamples } from "../src/model/state-runs.ts";
import { unitText } from "../src/model/unit-wording.ts";
import { JoinedPoints } from "../src/model/xy-join.ts";

const series = (...points: [number, number][]) => ({
  times: points.map(([at]) => at),
  values: points.map(([, value]) => value),
  length: points.length,
});

function joined(...args: Parameters<JoinedPoints["join"]>): [number, number, number][] {
  const points = new JoinedPoints();
  points.join(...args);
  return Array.from({ length: points.length }, (_, at) => [points.times[at]!, points.xs[at]!, points.ys[at]!]);
}

test("each sample of two series is joined with the newest one of the other", () => {
  const x = series([0, 1], [10, 2], [20, 3]);
  const y = series([5, 10], [10, 20], [30, 40]);
  assert.deepEqual(joined(x, y, 0, 100, 50), [[5, 1, 10], [10, 2, 20], [20, 3, 20], [30, 3, 40]]);
  assert.deepEqual(joined(x, y, 6, 20, 50), [[10, 2, 20], [20, 3, 20]]);
  assert.deepEqual(joined(x, series(), 0, 100, 50), []);
});

test("a partner that is too old, or no number, makes a gap and no point", () => {
  const x = series([0, 1], [1_000, 2], [1_001, 3]);
  const y = series([0, 1], [1_001, 2]);
  assert.deepEqual(joined(x, y, 0, 2_000, 100), [[0, 1, 1], [1_000, Number.NaN, Number.NaN], [1_001, 3, 2]]);
  assert.deepEqual(joined(series([0, Number.NaN], [1, 1]), series([0, 5]), 0, 9, 100), [[1, 1, 5]]);
  assert.equal(joined(series(...Array.from({ length: 3_000 }, (_, at): [number, number] => [at, at])), series([0, 0]), 0, 1e6, 1e6).length, 3_000);
});

function states(...samples: [number, string | null][]): StateSamples {
  return { times: samples.map(([at]) => at), length: samples.length, stateAt: (at) => samples[at]![1], isMixed: () => false, gap_ms: Number.POSITIVE_INFINITY };
}

test("samples of one state are one run, and the last one lasts to the end", () => {
  const runs = stateRuns(states([0, "off"], [10, "off"], [20, "on"], [90, "off"]), 5, 100, 1);
  assert.deepEqual(runs, [
    { from_ms: 5, to_ms: 20, state: "off" },
    { from_ms: 20, to_ms: 90, state: "on" },
    { from_ms: 90, to_ms: 100, state: "off" },
  ]);
});

test("short runs beside each other become one without a label, so that any zoom is legible", () => {
  const flicker = Array.from({ length: 50 }, (_, at): [number, string] => [at, at % 2 ? "on" : "off"]);
  assert.deepEqual(stateRuns(states(...flicker, [50, "off"]), 0, 100, 5), [
    { from_ms: 0, to_ms: 50, state: null },
    { from_ms: 50, to_ms: 100, state: "off" },
  ]);
  assert.equal(stateRuns(states(...flicker, [50, "off"]), 0, 100, 0.5).length, 51);
});

test("what is unknown, and a silence beyond what is expected, is a hole", () => {
  const runs = stateRuns({ ...states([0, "on"], [10, null], [50, "on"]), gap_ms: 20 }, 0, 100, 1);
  assert.deepEqual(runs.map(({ from_ms, to_ms }) => [from_ms, to_ms]), [[0, 10], [50, 70]]);
});

test("a bucket with several states in it has none", () => {
  const runs = stateRuns({ ...states([0, "on"], [10, "on"]), isMixed: (at) => at === 0 }, 0, 20, 1);
  assert.deepEqual(runs.map(({ state }) => state), [null, "on"]);
  assert.equal(stateColour("climb", 8), stateColour("climb", 8));
});

test("a gauge goes over the range, with a band for each limit inside it", () => {
  const limits = { low_critical: null, low: 10, high: 80, high_critical: 95 };
  const scale = gaugeScale({ range: [0, 100], limits }, null);
  assert.deepEqual(scale.bands.map(({ from, to, level }) => [from, to, level]), [[0, 10, "warning"], [10, 80, "good"], [80, 95, "warning"], [95, 100, "critical"]]);
  assert.deepEqual([share(scale, -5), share(scale, 50), share(scale, 500)], [0, 0.5, 1]);
});

test("without a range a gauge goes by limits and by what was seen, never from a number to the same one", () => {
  const limits = { low_critical: null, low: null, high: 90, high_critical: null };
  const byLimits = gaugeScale({ range: null, limits }, [20, 40]);
  assert.ok(byLimits.low <= 20 && byLimits.high >= 90);
  for (const seen of [null, [5, 5], [0, 0], [-1e9, 1e-9]] as const) {
    const { low, high } = gaugeScale(null, seen);
    assert.ok(high > low, JSON.stringify([seen, low, high]));
  }
  assert.deepEqual(gaugeScale({ range: [5, 5], limits: null }, null).bands, []);
});

test("a text is logged where it changes, events as they are, newest first and never too many", () => {
  const texts = ["climb", "climb", "cruise"];
  const lines = textLines("phase", { times: [0, 10, 20], texts, length: 3 }, 5, 100);
  assert.deepEqual(lines.map(({ at_ms, text }) => [at_ms, text]), [[20, "cruise"]]);
  const events = Array.from({ length: 500 }, (_, at) => ({ at_ms: at, level: "info", kind: "k", text: `${at}` }));
  assert.equal(eventLines(events, 0, 1_000).length, LOG_LINES_MAX);
  assert.deepEqual(newestFirst([...lines, ...eventLines(events, 15, 30)]).slice(0, 2).map(({ text }) => text), ["30", "29"]);
});

test("units are written as people write them", () => {
  assert.deepEqual(["Cel", "[g]", "kg/s", "{flights}"].map(unitText), ["°C", "g", "kg/s", "flights"]);
});

test("names that stand together lose what all begin with, and never become the same", () => {
  assert.deepEqual(relativeNames(["a/b/c", "a/b/d"]), ["c", "d"]);
  assert.deepEqual(relativeNames(["a/b", "a/b/c"]), ["b", "b/c"]);
  assert.deepEqual(relativeNames(["a/b/c"]), ["a/b/c"]);
  const long = ["a/" + "x".repeat(50) + "1", "a/" + "x".repeat(50) + "2"];
  assert.equal(new Set(labels(long, 10)).size, 2);
});

test("the broker is asked for all names together, again after a while, and for a standing time once", async () => {
  const asked: [readonly string[], number | null][] = [];
  const store = new NewestValues(async (names, at_ms) => {
    asked.push([names, at_ms]);
    return names.map((name) => ({ name, value: 1, time_ms: 5, quality: "good" }));
  }, () => undefined);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  store.want({}, ["a", "b"]);
  store.want({}, ["b", "c"]);
  store.follow("live", 100, 1_000);
  store.follow("live", 101, 1_001);
  await settle();
  assert.deepEqual(asked, [[["a", "b", "c"], null]]);
  assert.equal(store.get("c")?.value, 1);
  store.follow("live", 102, 1_600);
  await settle();
  assert.equal(asked.length, 2);
  for (const local_ms of [3_000, 4_000, 5_000]) {
    store.follow("paused", 50, local_ms);
    await settle();
  }
  assert.deepEqual(asked.slice(2), [[["a", "b", "c"], 50]]);
});

test("values of now are never shown for an earlier time, and those of a later one not either", async () => {
  let time_ms = 100;
  const store = new NewestValues(async (names) => names.map((name) => ({ name, value: 1, time_ms, quality: "good" })), () => undefined);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  store.want({}, ["a"]);
  store.follow("live", 100, 1_000);
  store.follow("paused", 100, 1_010);
  await settle();
  assert.equal(store.get("a"), null, "the answer was about now");
  store.follow("paused", 100, 1_020);
  await settle();
  assert.equal(store.get("a")?.value, 1);
  store.follow("paused", 50, 1_030);
  assert.equal(store.get("a"), null, "the answer was about a later time");
  time_ms = 45;
  store.follow("paused", 50, 1_600);
  await settle();
  assert.equal(store.get("a")?.time_ms, 45);
  store.follow("paused", 80, 1_605);
  assert.equal(store.get("a"), null, "the answer was about an earlier time, and there may be a newer value");
  store.follow("live", 200, 1_610);
  assert.equal(store.get("a"), null);
});

test("a name without a value has none, and does not hide the others", () => {
  const row = { name: "a", value: null, time_ms: null, quality: null };
  const told = readNewest(JSON.stringify({ at_ms: 1, values: [row, { name: "b", value: true, time_ms: 1, quality: "stale" }] }));
  assert.deepEqual(told, [{ name: "b", value: true, time_ms: 1, quality: "stale" }]);
});
