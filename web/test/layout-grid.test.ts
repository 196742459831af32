// Boxes on the grid: they never overlap, never leave it, and stand as high up as they can.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded, COLUMNS, firstPlace, type GridBox, moved, nudged, overlap, readingOrder, resized, settled } from "../src/model/layout-grid.ts";

const box = (x: number, y: number, w: number, h: number): GridBox => ({ x, y, w, h });

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function assertTidy(boxes: readonly GridBox[]): void {
  boxes.forEach((one, at) => {
    assert.ok(one.x >= 0 && one.x + one.w <= COLUMNS && one.y >= 0, JSON.stringify(one));
    boxes.slice(at + 1).forEach((other) => assert.ok(!overlap(one, other), JSON.stringify([one, other])));
    const raised = { ...one, y: one.y - 1 };
    assert.ok(one.y === 0 || boxes.some((other) => other !== one && overlap(raised, other)), `${JSON.stringify(one)} could rise`);
  });
}

test("whatever is moved or resized, boxes stay apart, inside and as high up as they can", () => {
  const next = random(7);
  const upTo = (most: number) => Math.floor(next() * most);
  let boxes = settled(Array.from({ length: 20 }, () => box(upTo(12), upTo(30), 1 + upTo(12), 1 + upTo(8))));
  assertTidy(boxes);
  for (let turn = 0; turn < 300; turn += 1) {
    const at = upTo(boxes.length);
    boxes = turn % 2 ? moved(boxes, at, upTo(16) - 2, upTo(60) - 5) : resized(boxes, at, upTo(20) - 2, upTo(50));
    assertTidy(boxes);
  }
});

test("what is dragged down past another box changes places with it", () => {
  const boxes = [box(0, 0, 6, 4), box(0, 4, 6, 4)];
  assert.deepEqual(moved(boxes, 0, 0, 1), boxes);
  assert.deepEqual(moved(boxes, 0, 0, 5), [box(0, 4, 6, 4), box(0, 0, 6, 4)]);
});

test("what is dragged up onto another box takes its place", () => {
  const boxes = [box(0, 0, 6, 4), box(0, 4, 6, 4)];
  assert.deepEqual(moved(boxes, 1, 0, 3), [box(0, 4, 6, 4), box(0, 0, 6, 4)]);
});

test("a box that grows pushes what is below it", () => {
  const boxes = [box(0, 0, 6, 4), box(0, 4, 12, 2), box(6, 0, 6, 3)];
  assert.deepEqual(resized(boxes, 0, 6, 6)[1], box(0, 6, 12, 2));
  assert.deepEqual(resized(boxes, 2, 20, 3)[2], box(6, 0, 6, 3));
});

test("a step by keyboard goes to the next place that is another one", () => {
  const boxes = [box(0, 0, 6, 4), box(0, 4, 6, 4)];
  assert.deepEqual(nudged(boxes, 0, 0, 1), [box(0, 4, 6, 4), box(0, 0, 6, 4)]);
  assert.deepEqual(nudged(boxes, 1, 0, -1), [box(0, 4, 6, 4), box(0, 0, 6, 4)]);
  assert.deepEqual(nudged(boxes, 0, 1, 0)[0], box(1, 0, 6, 4));
  assert.deepEqual(nudged(boxes, 0, -1, 0), boxes);
});

test("a new box gets the first place where it fits", () => {
  assert.deepEqual(firstPlace([], 3, 4), box(0, 0, 3, 4));
  assert.deepEqual(firstPlace([box(0, 0, 6, 4), box(9, 0, 3, 4)], 3, 4), box(6, 0, 3, 4));
  assert.deepEqual(firstPlace([box(0, 0, 6, 4), box(9, 0, 3, 4)], 4, 2), box(0, 4, 4, 2));
});

test("boxes are read row by row, also those of strange sizes", () => {
  assert.deepEqual(readingOrder([box(6, 0, 2, 2), box(0, 5, 2, 2), box(0, 0, 2, 2)]), [2, 0, 1]);
  assert.deepEqual(bounded(box(-3, -2, 99, 0)), box(0, 0, 12, 2));
  assert.deepEqual(bounded(box(11, 3, 4, 3)), box(8, 3, 4, 3));
});
