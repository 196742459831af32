// The list of alarms is asked for when it changed, and its words say what is beyond which limit.
import assert from "node:assert/strict";
import { test } from "node:test";

import { AlarmStore } from "../src/model/alarm-store.ts";
import { announcement, handled, lasting, levelMark, parameterAddress, reason } from "../src/model/alarm-wording.ts";
import type { AlarmSummary, ShownAlarm } from "../src/model/contract.ts";

const ALARM: ShownAlarm = {
  id: "1", parameter: "jet/egt", limit: "high_critical", level: "critical", state: "active", value: 905.25,
  threshold: 900, unit: "Cel", since_ms: 1_000, began_ms: 2_000, ended_ms: null, times: 1, acknowledged_by: null,
  acknowledged_ms: null, shelved_by: null, shelved_until_ms: null, comments: [],
};

function summary(revision: number): AlarmSummary {
  return { revision, active: 1, unacknowledged: 1, critical: 1, shelved: 0 };
}

function broker() {
  const asked: string[] = [];
  const answer = { revision: 1, total: 1, alarms: [ALARM] };
  const ask = (path: string) => {
    asked.push(path);
    return Promise.resolve(JSON.stringify(answer));
  };
  return { asked, answer, ask };
}

test("the list is asked for when it changed, and once a second at most", async () => {
  const { asked, ask, answer } = broker();
  const store = new AlarmStore(ask, () => undefined);
  store.follow(summary(1), 0);
  store.follow(summary(1), 1);
  await new Promise(setImmediate);
  assert.equal(asked.length, 1);
  store.follow(summary(1), 5_000);
  store.follow(summary(2), 999);
  assert.equal(asked.length, 1, "nothing is new, or it is too early");
  answer.revision = 2;
  store.follow(summary(2), 6_000);
  await new Promise(setImmediate);
  assert.equal(asked.length, 2);
});

test("only what began since the first list is told as new, and once", async () => {
  const { ask, answer } = broker();
  const store = new AlarmStore(ask, () => undefined);
  await store.load();
  assert.deepEqual(store.takeFresh(), []);
  const other = { ...ALARM, id: "2", parameter: "jet/oil" };
  answer.alarms = [other, { ...ALARM, times: 2 }];
  await store.load();
  assert.deepEqual(store.takeFresh().map(({ id }) => id), ["2", "1"]);
  assert.deepEqual(store.takeFresh(), []);
});

test("without an answer the list stays as it is", async () => {
  let text: string | null = JSON.stringify({ revision: 1, total: 1, alarms: [ALARM] });
  const store = new AlarmStore(() => Promise.resolve(text), () => undefined);
  await store.load();
  text = null;
  await store.load();
  assert.equal(store.alarms.length, 1);
});

test("an alarm says what is wrong, for how long, and who did something", () => {
  assert.equal(reason(ALARM), "far above its limit: 905.25 °C, limit 900 °C");
  assert.equal(reason({ ...ALARM, value: null, threshold: null }), "far above its limit");
  assert.equal(lasting(ALARM, 66_000), "00:00:01: active for 1 min 5 s");
  assert.equal(lasting({ ...ALARM, state: "ended", ended_ms: 3_000, times: 4 }, 9e9), "00:00:01: ended after 2 s, 4 times");
  assert.equal(handled(ALARM), "");
  assert.match(handled({ ...ALARM, acknowledged_by: "anna", acknowledged_ms: 5 }), /^acknowledged by anna at /);
  assert.match(handled({ ...ALARM, shelved_by: "otto", shelved_until_ms: 5 }), /^shelved by otto until /);
});

test("level and state have a shape of their own", () => {
  const marks = (["warning", "critical"] as const).flatMap((level) =>
    (["active", "ended"] as const).map((state) => levelMark({ ...ALARM, level, state })),
  );
  assert.equal(new Set(marks).size, 4);
});

test("names of strangers are made legible, and cannot leave an address", () => {
  const hostile = { ...ALARM, parameter: "a\u202e&b=<img>#/x?" };
  assert.match(announcement([hostile, ALARM]), /^critical alarm: a‹U\+202E›&b=<img>#\/x\? is .*, and 1 more alarms$/);
  assert.equal(new URLSearchParams(parameterAddress(hostile.parameter).split("?")[1]).get("parameter"), hostile.parameter);
});
