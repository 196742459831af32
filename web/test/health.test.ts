// The health line: what is fine, what is not, and that it is said in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveMessage } from "../src/model/contract.ts";
import { type HealthPoint, healthPoints } from "../src/model/health.ts";
import { blank } from "./blank.ts";

const quiet = blank(LiveMessage);

function point(name: string, changes: object): HealthPoint {
  const found = healthPoints({ ...quiet, ...changes }).find((one) => one.name === name);
  assert.ok(found, `no point ${name}`);
  return found;
}

function table(changes: object): object {
  return { table: { ...quiet.table, ...changes } };
}

test("parameters are live, stale, or not there", () => {
  assert.equal(point("parameters", table({})).health, "calm");
  assert.equal(point("parameters", table({ parameters: 5 })).health, "good");
  const some = point("parameters", table({ parameters: 5, stale: 2 }));
  assert.deepEqual([some.figure, some.word, some.health], ["3 live", "2 stale", "warning"]);
  assert.equal(point("parameters", table({ parameters: 5, stale: 5 })).health, "fault");
});

test("samples that are refused are a warning", () => {
  assert.equal(point("samples", table({ samples_s: 20 })).health, "good");
  assert.equal(point("samples", table({ samples_s: 20, refused_s: 1 })).word, "refusing 1 /s");
  assert.equal(point("samples", table({})).word, "nothing comes");
});

test("ages are held against 200 ms", () => {
  const age = (half: number, most: number) => point("age", table({ aged: 9, age_p50_ms: half, age_p99_ms: most }));
  assert.deepEqual([age(3.21, 200).figure, age(3.21, 200).health], ["p50 3.2 ms · p99 200 ms", "good"]);
  assert.deepEqual([age(3, 201).word, age(3, 201).health], ["over 200 ms", "warning"]);
  assert.equal(age(201, 400).health, "fault");
  const none = healthPoints({ ...quiet, table: { ...quiet.table, age_p50_ms: null, age_p99_ms: null } });
  assert.equal(none.find(({ name }) => name === "age")?.word, "no samples");
});

test("what was dropped long ago is no warning, what is dropped now is", () => {
  const drops = (dropped: number, now: number) =>
    point("drops", { totals: { ...quiet.totals, dropped }, rates: { ...quiet.rates, dropped: now } });
  assert.equal(drops(0, 0).word, "nothing lost");
  assert.deepEqual([drops(7, 0).word, drops(7, 0).health], ["none now", "good"]);
  assert.deepEqual([drops(7, 2).word, drops(7, 2).health], ["now 2 /s", "warning"]);
});

test("alarms are critical, unacknowledged, acknowledged or none", () => {
  const alarms = (active: number, unacknowledged: number, critical: number) =>
    point("alarms", { alarms: { active, unacknowledged, critical } });
  assert.deepEqual([alarms(0, 0, 0).word, alarms(0, 0, 0).health], ["none", "good"]);
  assert.equal(alarms(2, 0, 0).word, "all acknowledged");
  assert.equal(alarms(2, 1, 0).health, "warning");
  assert.equal(alarms(2, 1, 1).health, "fault");
});

test("every point says why", () => {
  for (const { why } of healthPoints(quiet)) assert.ok(why.length > 40);
});
