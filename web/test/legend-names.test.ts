// Names in a legend: the end stays, what is left out is marked, and different names stay different.
import assert from "node:assert/strict";
import { test } from "node:test";
import { legendNames } from "../src/model/legend-names.ts";

test("a name that fits stays whole, and of a longer one whole levels are left out with a mark", () => {
  const name = "gripen/39-7/motion/load_factor";
  assert.deepEqual(legendNames([name], 30), [name]);
  assert.deepEqual(legendNames([name], 29), ["…/39-7/motion/load_factor"]);
  assert.deepEqual(legendNames([name], 20), ["…/motion/load_factor"]);
  assert.deepEqual(legendNames([name], 15), ["…/load_factor"]);
});

test("where not even the last level fits, the middle of the name is left out", () => {
  assert.deepEqual(legendNames(["gripen/39-7/motion/load_factor"], 11), ["gripe…actor"]);
  assert.deepEqual(legendNames(["abcdefghijklmnop/"], 11), ["abcde…mnop/"]);
});

test("two names never get the same text, and the same name gets the same", () => {
  const names = ["gripen/39-7/motion/load_factor", "gripen/39-8/motion/load_factor"];
  for (let room = 9; room < 40; room += 1) assert.equal(new Set(legendNames(names, room)).size, 2, String(room));
  assert.deepEqual(legendNames([names[0]!, names[0]!], 20), ["…/motion/load_factor", "…/motion/load_factor"]);
});
