// Numbers and times as a person reads them.
import assert from "node:assert/strict";
import { test } from "node:test";

process.env["TZ"] = "Asia/Tokyo";
const { age, bytes, clientName, count, duration, legible, moment, payload, rate, reading, timeOfDay } = await import(
  "../src/model/wording.ts"
);

test("rates have as many digits as tell something", () => {
  const rows: [number | null, string][] = [
    [null, "–"],
    [0, "0"],
    [0.1, "0.1"],
    [0.25, "0.25"],
    [9.96, "10"],
    [10, "10"],
    [99.94, "99.9"],
    [1_000, "1,000"],
    [1_250_000, "1.25 M"],
  ];
  for (const [value, text] of rows) assert.equal(rate(value), text);
});

test("sizes are in steps of a thousand", () => {
  const rows: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [64_000, "64.0 kB"],
    [999_600, "1.0 MB"],
    [123_456_789, "123 MB"],
  ];
  for (const [value, text] of rows) assert.equal(bytes(value), text);
});

test("ages are one calm unit, and a clock that is ahead gives no negative one", () => {
  const texts = [-500, 900, 1_000, 59_999, 60_000, 3_600_000, 200_000_000].map(age);
  assert.deepEqual(texts, ["now", "now", "1 s", "59 s", "1 min", "1 h", "2 d"]);
});

test("durations are two units", () => {
  assert.deepEqual([12, 185, 7_800, 350_000].map(duration), ["12 s", "3 min 5 s", "2 h 10 min", "4 d 1 h"]);
});

test("counts are grouped, times are in UTC as the clock of the page, in full also in the viewer's zone, and a bad time is not an error", () => {
  assert.equal(count(1_234_567), "1,234,567");
  const at_ms = Date.UTC(2026, 0, 1, 13, 4, 5, 6);
  assert.equal(timeOfDay(at_ms), "13:04:05");
  assert.equal(moment(at_ms), "1 Jan 2026, 22:04:05 GMT+9 · 2026-01-01 13:04:05.006 UTC");
  assert.equal(moment(Number.NaN), "–");
  assert.equal(timeOfDay(Number.NaN), "–");
});

test("readings fit an axis", () => {
  assert.deepEqual([0, 1.5, 12_034.56, 1e-9, -2e9].map(reading), ["0", "1.5", "12034.6", "1.00e-9", "-2.00e+9"]);
});

test("a payload is shown as it came, or by its size where it is not text", () => {
  assert.equal(payload("12034.500", 9), "12034.500");
  assert.equal(payload(null, 48_211), "‹48,211 bytes›");
  assert.equal(payload("", 0), "‹empty›");
  assert.equal(payload('{\n\t"a": 1\n}', 10), '{ "a": 1 }');
});

test("characters that hide or turn a name around are shown by their code", () => {
  assert.equal(legible("safe\u202egnp.exe"), "safe‹U+202E›gnp.exe");
  assert.equal(legible("a\u0000b\u200bc"), "a‹U+0000›b‹U+200B›c");
  assert.equal(legible("שלום/👩\u200d🚀"), "שלום/👩\u200d🚀");
  assert.equal(legible("<img src=x onerror=alert(1)>"), "<img src=x onerror=alert(1)>");
});

test("no name is shown as another one, also if it is written like a code", () => {
  assert.equal(legible("safe‹U+202E›gnp.exe"), "safe‹U+2039›U+202E›gnp.exe");
  assert.notEqual(clientName("‹no name›"), clientName(""));
  assert.equal(legible("‹quoted›"), "‹quoted›");
});
