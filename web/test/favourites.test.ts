// Favourites last as long as the browser keeps them, and never more of them than the broker is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Favourites, FAVOURITES_MAX } from "../src/model/favourites.ts";

class FakeStorage {
  text: string | null = null;
  getItem(): string | null {
    return this.text;
  }
  setItem(_: string, text: string): void {
    this.text = text;
  }
}

test("a favourite is there after a reload, and gone when it is unmarked", () => {
  const storage = new FakeStorage();
  new Favourites(storage).toggle("jet/rpm");
  const again = new Favourites(storage);
  assert.deepEqual(again.names, ["jet/rpm"]);
  again.toggle("jet/rpm");
  assert.deepEqual(new Favourites(storage).names, []);
});

test("there is room for so many, and the next is refused", () => {
  const favourites = new Favourites(new FakeStorage());
  for (let at = 0; at < FAVOURITES_MAX; at += 1) assert.ok(favourites.toggle(`p/${at}`));
  assert.equal(favourites.toggle("one more"), false);
  assert.equal(favourites.names.length, FAVOURITES_MAX);
});

test("what another program wrote into the storage does no harm", () => {
  for (const text of ["{", "7", '{"a":1}', '["a","a",7,null,""]', JSON.stringify(["x".repeat(2_000), "a"])]) {
    const storage = new FakeStorage();
    storage.text = text;
    assert.ok(new Favourites(storage).names.every((name) => name === "a"));
  }
  const refusing = {
    getItem: () => {
      throw new Error("not allowed");
    },
    setItem: () => {
      throw new Error("full");
    },
  };
  const favourites = new Favourites(refusing);
  assert.ok(favourites.toggle("a") && favourites.has("a"));
});
