// The two levels of one side of a parameter are one row; the sides and the parameters are not mixed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { alarmGroups, commentsOf, waiting } from "../src/model/alarm-groups.ts";
import { AlarmsMessage, type ShownAlarm } from "../src/model/contract.ts";
import { blank } from "./blank.ts";

const ALARM = { ...blank(AlarmsMessage.fields.alarms.list), parameter: "jet/oil", acknowledged_ms: null } as ShownAlarm;
const LOW: ShownAlarm = { ...ALARM, id: "1", limit: "low", level: "warning", state: "active" };
const FAR: ShownAlarm = { ...ALARM, id: "2", limit: "low_critical", level: "critical", state: "active" };
const HIGH: ShownAlarm = { ...ALARM, id: "3", limit: "high", level: "warning", state: "active" };

const ids = (alarms: readonly ShownAlarm[]) => alarms.map(({ id }) => id);

test("the two levels of a side are one group, which shows the worse", () => {
  const groups = alarmGroups([LOW, HIGH, FAR, { ...LOW, id: "4", parameter: "jet/egt" }]);
  assert.deepEqual(groups.map(({ alarms }) => ids(alarms)), [["2", "1"], ["3"], ["4"]]);
  assert.equal(groups[0]?.worst.id, "2");
  assert.equal(new Set(groups.map(({ key }) => key)).size, 3);
});

test("an active warning is shown rather than a critical alarm that ended", () => {
  assert.equal(alarmGroups([{ ...FAR, state: "ended" }, LOW])[0]?.worst.id, "1");
});

test("who acknowledges a group acknowledges what is not acknowledged yet", () => {
  const [group] = alarmGroups([{ ...LOW, acknowledged_ms: 5 }, FAR]);
  assert.deepEqual(group && ids(waiting(group)), ["2"]);
});

test("a comment to both is told once, in the order of time", () => {
  const [early, late] = [{ at_ms: 1, by: "otto", text: "a" }, { at_ms: 2, by: "otto", text: "b" }];
  const [group] = alarmGroups([{ ...LOW, comments: [early, late] }, { ...FAR, comments: [late] }]);
  assert.deepEqual(group && commentsOf(group), [early, late]);
});
