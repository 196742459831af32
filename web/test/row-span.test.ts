// Which rows of a long table exist and are asked for, however far it is scrolled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asked, drawn, HEIGHT_MAX, rowsFor, scrolledTo, STEP, tableHeight } from "../src/model/row-span.ts";

const place = (scroll_top: number, total: number) => ({ scroll_top, view_height: 600, row_height: 30, total });

test("the rows in view exist and some beyond each edge, and no more than that anywhere", () => {
  assert.deepEqual(drawn(place(0, 20_000)), { first: 0, count: rowsFor(600, 30), top: 0 });
  const middle = drawn(place(300_000, 20_000));
  assert.deepEqual(middle, { first: 9_996, count: rowsFor(600, 30), top: 299_880 });
  const end = drawn(place(20_000 * 30 - 600, 20_000));
  assert.equal(end.first + end.count, 20_000);
  assert.deepEqual(drawn(place(0, 3)), { first: 0, count: 3, top: 0 });
  assert.equal(drawn(place(0, 0)).count, 0);
});

test("every row in view is asked for, in steps, and never more than the broker sends", () => {
  for (let top = 0; top < 50_000; top += 137) {
    const span = asked(place(top, 20_000));
    const first = Math.floor(top / 30);
    assert.ok(span.first <= first && span.first + span.count >= first + 21, `at ${top}`);
    assert.equal(span.first % STEP, 0);
    assert.ok(span.count <= 200);
  }
  assert.deepEqual(asked(place(0, 20_000)), asked(place(29, 20_000)));
});

test("a table that is taller than browsers scroll can be scrolled to its last row", () => {
  const total = 2_000_000;
  assert.equal(tableHeight(30, total), HEIGHT_MAX);
  const end = place(HEIGHT_MAX - 600, total);
  const { first, count, top } = drawn(end);
  assert.equal(first + count, total);
  assert.ok(Math.abs(top + count * 30 - HEIGHT_MAX) < 1);
  const there = { ...end, scroll_top: scrolledTo(place(0, total), 1_234_567) };
  const shown = drawn(there);
  assert.ok(shown.first <= 1_234_567 && shown.first + shown.count > 1_234_567);
});

test("a row is scrolled into view by the shortest way", () => {
  assert.equal(scrolledTo(place(3_000, 1_000), 105), 3_000);
  assert.equal(scrolledTo(place(3_000, 1_000), 50), 1_500);
  assert.equal(scrolledTo(place(0, 1_000), 30), 31 * 30 - 570);
});
