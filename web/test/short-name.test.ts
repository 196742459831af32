// Names in a column: short, readable at both ends, and never two of them alike.
import assert from "node:assert/strict";
import { test } from "node:test";
import { shortNames } from "../src/model/short-name.ts";

test("a name that fits stays as it is, and of a longer one both ends are shown", () => {
  assert.deepEqual(shortNames(["engine/rpm", "gripen/39-7/engine/left/fan/rpm"], 17), ["engine/rpm", "gripen/3…/fan/rpm"]);
});

test("names with the same ends show where they differ", () => {
  const names = ["gripen/39-7/engine/left/fan/speed/rpm", "gripen/39-7/engine/right/fan/speed/rpm"];
  assert.deepEqual(shortNames(names, 20), ["gripe…left/fan…d/rpm", "gripe…right/fa…d/rpm"]);
});

test("a short text that is the whole name of another is not used", () => {
  const [long, short] = shortNames(["aaaaaaaaaaaaaaaaaaaa", "aaaaaa…aaaaa"], 12);
  assert.equal(short, "aaaaaa…aaaaa");
  assert.notEqual(long, short);
});

test("the same name twice has the same text, and characters are not cut in two", () => {
  const plane = "✈".repeat(5) + "🛩".repeat(40) + "b";
  const shown = shortNames([plane, plane], 10);
  assert.equal(shown[0], shown[1]);
  assert.ok(shown[0]?.isWellFormed());
});

/** A small generator with a seed, so that a failure can be seen again. */
function random(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** Names that differ little: few characters, shared beginnings and ends, and the sign for what is left out. */
function someNames(next: (most: number) => number): string[] {
  const word = (most: number) => Array.from({ length: next(most) }, () => ["a", "b", "/", "…", "🛩"][next(5)]).join("");
  const head = word(30);
  const tail = word(30);
  return Array.from({ length: 1 + next(30) }, () => (next(3) ? head + word(8) + tail : word(40)));
}

test("different names never get the same text, whatever they are and however small the room", () => {
  for (let seed = 0; seed < 2_000; seed += 1) {
    const next = random(seed);
    const names = someNames(next);
    const room = next(40);
    const shown = shortNames(names, room);
    assert.equal(shown.length, names.length);
    assert.equal(new Set(shown).size, new Set(names).size, `seed ${seed}`);
    names.forEach((name, index) => {
      const text = shown[index] ?? "";
      const fits = [...text].length <= Math.max(9, room);
      assert.ok(fits || text === name, `seed ${seed}: ${text} has no room`);
      if ([...name].length <= room) assert.equal(text, name);
    });
  }
});

test("a thousand names that differ in one digit far inside are told apart in a column", () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `${"fleet/".repeat(20)}${index}/${"engine/".repeat(20)}rpm`);
  const shown = shortNames(names, 30);
  assert.equal(new Set(shown).size, 1_000);
  assert.ok(shown.every((text) => [...text].length <= 30));
});
