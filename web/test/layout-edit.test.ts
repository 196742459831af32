// A layout that is changed: undone, redone, saved, and kept as a draft.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LayoutEdit } from "../src/model/layout-edit.ts";
import { type LayoutDocument, LayoutDrafts, nameFrom, namesOf, readLayout } from "../src/model/layout.ts";
import { UndoStack } from "../src/model/undo-stack.ts";

const GAUGE = { kind: "gauge", title: "", x: 0, y: 0, w: 3, h: 4, options: { names: ["a/b"] } };
const DOCUMENT: LayoutDocument = { title: "Climb", widgets: [GAUGE, { ...GAUGE, x: 3 }] };

class Stored {
  readonly kept = new Map<string, string>();
  isFull = false;
  get length(): number {
    return this.kept.size;
  }
  key(at: number): string | null {
    return [...this.kept.keys()][at] ?? null;
  }
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, text: string): void {
    if (this.isFull) throw new Error("quota");
    this.kept.set(key, text);
  }
  removeItem(key: string): void {
    this.kept.delete(key);
  }
}

const drafts = (stored: Stored) => new LayoutDrafts(stored as unknown as Storage);

test("what is undone is what was, and a layout that is as it was saved is not changed", () => {
  const edit = new LayoutEdit(DOCUMENT);
  assert.equal(edit.isChanged, false);
  const id = edit.add("plot", "New", { names: [] }, 6, 5);
  edit.remove(edit.now.widgets[0]!.id);
  assert.deepEqual(edit.document.widgets.map(({ kind }) => kind), ["gauge", "plot"]);
  edit.undo();
  edit.undo();
  assert.deepEqual([edit.document, edit.isChanged, edit.canUndo], [DOCUMENT, false, false]);
  edit.redo();
  assert.equal(edit.now.widgets.at(-1)?.id, id);
  edit.saved(edit.now);
  assert.equal(edit.isChanged, false);
  edit.undo();
  assert.equal(edit.isChanged, true);
});

test("a change that changes nothing is none, and a new one ends what was undone", () => {
  const edit = new LayoutEdit(DOCUMENT);
  edit.retitle("Climb");
  edit.place(edit.now.widgets);
  assert.equal(edit.canUndo, false);
  edit.retitle("Descent");
  edit.undo();
  edit.retitle("Cruise");
  assert.equal(edit.canRedo, false);
});

test("widgets that overlap are moved apart, and that is no change of a person", () => {
  const edit = new LayoutEdit({ title: "", widgets: [GAUGE, GAUGE] });
  assert.deepEqual(edit.document.widgets.map(({ y }) => y), [0, 4]);
  assert.equal(edit.isChanged, false);
});

test("states to go back to are bounded", () => {
  const stack = new UndoStack(0);
  for (let state = 1; state <= 500; state += 1) stack.push(state);
  let steps = 0;
  for (; stack.canUndo; steps += 1) stack.undo();
  assert.deepEqual([steps, stack.now], [60, 440]);
});

test("a draft survives, one for each layout; old ones, broken ones and a full storage do no harm", () => {
  const stored = new Stored();
  const kept = drafts(stored);
  kept.write("climb", { document: DOCUMENT, base_ms: 7, at_ms: 9 });
  assert.deepEqual(drafts(stored).read("climb"), { document: DOCUMENT, base_ms: 7, at_ms: 9 });
  assert.equal(kept.read("other"), null);
  for (const broken of ["{", "null", '{"document": {}}', '{"document": {"title": 3, "widgets": []}, "base_ms": null, "at_ms": 1}']) {
    stored.kept.set("slipring.layout.broken", broken);
    assert.equal(kept.read("broken"), null, broken);
  }
  for (let number = 0; number < 30; number += 1) kept.write(`n${number}`, { document: DOCUMENT, base_ms: null, at_ms: 100 + number });
  assert.equal(stored.length, 20);
  assert.equal(kept.read("climb"), null);
  assert.notEqual(kept.read("n29"), null);
  stored.isFull = true;
  kept.write("late", { document: DOCUMENT, base_ms: null, at_ms: 1 });
  kept.forget("n29");
  assert.equal(kept.read("n29"), null);
});

test("the name in the address comes from the title, and is none that is taken", () => {
  assert.equal(nameFrom("Flight test #7: Übung", []), "flight-test-7-u-bung");
  assert.equal(nameFrom("飛行", []), "layout");
  assert.equal(nameFrom("Flight", ["flight", "flight-2"]), "flight-3");
  for (const title of ["../..", "-x-", "a".repeat(300), "<b>", "\u202e"]) assert.match(nameFrom(title, []), /^[a-z0-9][a-z0-9_-]{0,63}$/);
});

test("options are whatever the broker keeps, and names in them only if they are a list of texts", () => {
  const head = { name: "a", title: "", is_ready_made: false, changed_ms: 1, by: null, is_narrowed: false };
  const read = readLayout(JSON.stringify({ ...head, widgets: [{ ...GAUGE, options: { names: ["a", 3, null], deep: [{}] } }] }));
  assert.deepEqual(namesOf(read.document.widgets[0]!.options), ["a"]);
  assert.deepEqual(namesOf({ names: "a" }), []);
  assert.throws(() => readLayout(JSON.stringify({ ...head, widgets: [{ ...GAUGE, options: [] }] })));
  assert.throws(() => readLayout(JSON.stringify({ ...head, widgets: [{ ...GAUGE, x: "0" }] })));
});
