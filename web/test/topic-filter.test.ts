// The filter box: a part of a name, or an MQTT filter.
import assert from "node:assert/strict";
import { test } from "node:test";
import { topicTest } from "../src/model/topic-filter.ts";

const ROWS: [filter: string, topic: string, matches: boolean][] = [
  ["", "anything", true],
  ["ENGINE", "gripen/39-7/engine/rpm", true],
  ["engine", "gripen/39-7/fuel/flow", false],
  ["gripen/+/engine/#", "gripen/39-7/engine/rpm", true],
  ["gripen/+/engine/#", "gripen/39-7/engine", true],
  ["gripen/+/engine/#", "gripen/39-7/fuel/flow", false],
  ["gripen/+", "gripen/39-7/engine", false],
  ["gripen/+", "gripen", false],
  ["+/+", "/finance", true],
  ["/+", "/finance", true],
  ["+", "/finance", false],
  ["#", "a/b/c", true],
  ["#", "$SYS/uptime", false],
  ["+/uptime", "$SYS/uptime", false],
  ["$SYS/#", "$SYS/uptime", true],
  ["Gripen/#", "gripen/39-7", false],
  ["c++", "lib/c++/version", true],
  ["a/#/b", "a/#/b", true],
  ["a/#/b", "a/x/b", false],
  ["  fuel ", "tank/fuel", true],
];

for (const [filter, topic, matches] of ROWS) {
  test(`"${filter}" ${matches ? "selects" : "leaves out"} ${topic}`, () => {
    assert.equal(topicTest(filter)(topic), matches);
  });
}
