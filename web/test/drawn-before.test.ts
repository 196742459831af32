// What a person drew last is offered again, and no more of it than fits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DRAWN_MAX, DrawnBefore } from "../src/model/drawn-before.ts";

class FakeStorage {
  text: string | null = null;
  getItem(): string | null {
    return this.text;
  }
  setItem(_: string, text: string): void {
    this.text = text;
  }
}

test("the newest come first, each once, and the oldest are forgotten", () => {
  const storage = new FakeStorage();
  const drawn = new DrawnBefore(storage);
  for (let at = 0; at < 3 * DRAWN_MAX; at += 1) drawn.add([`p/${at}`]);
  drawn.add(["p/30", "x".repeat(2_000), ""]);
  assert.equal(new DrawnBefore(storage).names.length, DRAWN_MAX);
  assert.deepEqual(new DrawnBefore(storage).names.slice(0, 3), ["p/30", "p/35", "p/34"]);
});

test("what another program wrote, or a storage that refuses, does no harm", () => {
  for (const text of ["{", "7", '{"a":1}', '["a","a",7,null,""]']) {
    const storage = new FakeStorage();
    storage.text = text;
    assert.ok(new DrawnBefore(storage).names.every((name) => name === "a"));
  }
  const refusing = {
    getItem: () => null,
    setItem: () => {
      throw new Error("full");
    },
  };
  const drawn = new DrawnBefore(refusing);
  drawn.add(["a"]);
  assert.deepEqual([drawn.names, new DrawnBefore(null).names], [["a"], []]);
});
