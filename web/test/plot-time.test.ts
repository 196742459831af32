// Time on a plot: marks from a year to a microsecond, the address, cursors, and the table of what is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesCsv } from "../src/model/series-csv.ts";
import { applyTime, queryText, readTime, saysTime, withTime } from "../src/model/time-address.ts";
import { spanText, timeLabels, timeMarks, timeText } from "../src/model/time-axis.ts";
import { TimeControl } from "../src/model/time-control.ts";
import { TimeCursors } from "../src/model/time-cursors.ts";

const AT = Date.UTC(2026, 10, 19, 2, 1, 30);
const labels = (from_ms: number, span_ms: number) => timeLabels(timeMarks(from_ms, from_ms + span_ms, 6));

test("marks of every scale are round in UTC, ascending, and not too many", () => {
  for (let span_ms = 0.01; span_ms < 40 * 366 * 86_400_000; span_ms *= 1.7) {
    const { at_ms } = timeMarks(AT, AT + span_ms, 8);
    assert.ok(at_ms.length <= 9, `${at_ms.length} for ${span_ms}`);
    assert.ok(at_ms.every((mark, at) => mark >= AT && mark <= AT + span_ms && (at === 0 || mark > at_ms[at - 1]!)));
  }
});

test("a label has what changes, and below it, once, what does not", () => {
  assert.deepEqual(labels(AT, 10 * 60_000), ["02:02\n2026-11-19", "02:04", "02:06", "02:08", "02:10"]);
  assert.deepEqual(labels(AT, 60_000), ["02:01:30\n2026-11-19", "02:01:40", "02:01:50", "02:02:00", "02:02:10", "02:02:20", "02:02:30"]);
  assert.deepEqual(labels(AT + 86_400_000 - 7_290_000 - 2_400_000, 10_800_000).map((label) => label.split("\n")[0]), ["23:30", "00:00", "00:30", "01:00", "01:30", "02:00"]);
});

test("a millisecond has marks in parts of it", () => {
  assert.deepEqual(labels(AT, 1), ["30.0000 s\n2026-11-19 02:01", "30.0002 s", "30.0004 s", "30.0006 s", "30.0008 s", "30.0010 s"]);
  assert.deepEqual(labels(AT, 400), ["30.0 s\n2026-11-19 02:01", "30.1 s", "30.2 s", "30.3 s", "30.4 s"]);
});

test("days, months and years follow the calendar", () => {
  assert.deepEqual(labels(Date.UTC(2027, 11, 29), 5 * 86_400_000), ["29 Dec\n2027", "30 Dec", "31 Dec", "01 Jan\n2028", "02 Jan", "03 Jan"]);
  assert.deepEqual(labels(Date.UTC(2027, 0, 1), 365 * 86_400_000), ["Jan\n2027", "Apr", "Jul", "Oct", "Jan\n2028"]);
  assert.deepEqual(labels(Date.UTC(2020, 0, 1), 5 * 366 * 86_400_000).at(-1), "2025");
});

test("times and differences have the digits that their size needs", () => {
  assert.equal(timeText(AT + 250, 60_000), "2026-11-19 02:01:30.250");
  assert.equal(timeText(AT, 30 * 86_400_000), "2026-11-19 02:01:30");
  assert.equal(timeText(AT + 0.25, 1), "2026-11-19 02:01:30.000250");
  assert.equal(timeText(Number.NaN, 1), "–");
  assert.deepEqual([0.25, 12.5, -1_250, 61_000, 7_380_000, 90_000_000].map(spanText), ["250 µs", "12.5 ms", "-1.25 s", "1 min 01 s", "2 h 03 min", "1 d 01 h"]);
});

test("a time is read as ISO 8601 in UTC or as milliseconds, and anything else is refused", () => {
  for (const text of ["2026-11-19T02:01:30.000Z", "2026-11-19 02:01:30", "2026-11-19 02:01:30 UTC", String(AT)]) assert.equal(readTime(text), AT);
  assert.equal(readTime("2026-11-19"), Date.UTC(2026, 10, 19));
  for (const text of ["", "now", "2026-02-30", "2026-13-01", "2026-11-19 24:00", "-5", "1e400", "99999999999999999"]) assert.equal(readTime(text), null, text);
});

test("the address carries a pause, a replay and a span, and gives the same back", () => {
  const time = new TimeControl();
  const live_ms = AT + 3_600_000;
  assert.equal(queryText(withTime(new URLSearchParams("name=a/b"), time, live_ms)), "name=a/b");
  time.setSpan(60_000);
  assert.equal(queryText(withTime(new URLSearchParams("name=a/b"), time, live_ms)), "name=a/b&span=60000");
  time.seek(AT, live_ms);
  time.play(4, live_ms);
  const query = withTime(new URLSearchParams("name=a/b&span=60000"), time, live_ms);
  assert.equal(queryText(query), "name=a/b&from=2026-11-19T02:00:30.000Z&to=2026-11-19T02:01:30.000Z&play=4");
  const other = new TimeControl();
  applyTime(query, other, live_ms);
  assert.deepEqual([other.mode, other.speed, other.window(live_ms)], ["replay", 4, time.window(live_ms)]);
});

test("an address with a wrong time changes nothing", () => {
  const time = new TimeControl();
  for (const text of ["from=x&to=y", "from=2026-11-19T02:01:30Z", "span=-1", "from=2026-11-20&to=2026-11-19", "play=1e9", "span=Infinity"]) {
    applyTime(new URLSearchParams(text), time, AT);
    assert.deepEqual([time.mode, time.span_ms], ["live", 300_000], text);
  }
  assert.equal(saysTime(new URLSearchParams("name=from")), false);
});

test("a zoom keeps the time under the pointer, a move goes into the past, and live stays at now", () => {
  const time = new TimeControl();
  time.zoom(0.5, AT - 250_000, AT);
  assert.deepEqual([time.mode, time.span_ms], ["live", 150_000]);
  time.move(1_000, AT);
  assert.equal(time.mode, "live", "nothing is later than now");
  time.move(-60_000, AT);
  assert.deepEqual([time.mode, time.shown(AT)], ["paused", AT - 60_000]);
  const { from_ms } = time.window(AT);
  time.zoom(0.1, from_ms + 15_000, AT);
  assert.equal((from_ms + 15_000 - time.window(AT).from_ms) / time.span_ms, 0.1);
  time.showWindow(AT - 20, AT - 10, AT);
  assert.deepEqual(time.window(AT), { from_ms: AT - 20, to_ms: AT - 10 });
  time.zoom(1e-9, AT - 15, AT);
  assert.equal(time.span_ms, 1);
});

test("a click sets A, the next B, and a third one begins anew", () => {
  const cursors = new TimeCursors();
  cursors.click(1);
  cursors.click(2);
  assert.deepEqual([cursors.a_ms, cursors.b_ms], [1, 2]);
  cursors.click(3);
  assert.deepEqual([cursors.a_ms, cursors.b_ms], [3, null]);
  cursors.clear();
  assert.equal(cursors.a_ms, null);
});

test("a table has the bucket that reaches beyond the window, for it is drawn", () => {
  const one = (value: number) => Float64Array.from([value]);
  const slice = { times: one(AT + 150), min: one(1), max: one(9), last: one(2), length: 1, texts: [], step_ms: 100 };
  const rows = (to_ms: number) => seriesCsv([{ name: "a", unit: "", slice, exactAt: () => null }], { from_ms: AT, to_ms }).split("\r\n").length - 2;
  assert.deepEqual([rows(AT + 100), rows(AT + 40)], [1, 0]);
});

test("a table has exact numbers, only of the window, and no formula of a stranger", () => {
  const numbers = (...values: number[]) => Float64Array.from(values);
  const slice = { times: numbers(AT - 1, AT + 0.25, AT + 10), min: numbers(0, 0.1, 1), max: numbers(0, 0.30000000000000004, 1), last: numbers(0, 0.2, NaN), length: 3, texts: [], step_ms: 0 };
  const words = { ...slice, texts: ["", 'say "on"', "off"] };
  const exactAt = (at_ms: number) => (at_ms === AT + 10 ? BigInt(AT + 10) * 1_000_000n + 7n : null);
  const text = seriesCsv([{ name: '=cmd|"x"', unit: "m", slice, exactAt }, { name: "mode", unit: "", slice: words, exactAt: () => null }], { from_ms: AT, to_ms: AT + 100 });
  assert.deepEqual(text.split("\r\n"), [
    "time,name,unit,min,max,last",
    `2026-11-19T02:01:30.000250Z,"'=cmd|""x""","m",0.1,0.30000000000000004,0.2`,
    `2026-11-19T02:01:30.010000007Z,"'=cmd|""x""","m",1,1,`,
    `2026-11-19T02:01:30.000250Z,"mode","",,,"say ""on"""`,
    `2026-11-19T02:01:30.010Z,"mode","",,,"off"`,
    "",
  ]);
});
