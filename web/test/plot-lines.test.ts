// How samples become a line: the extremes of each column, gaps, and the marks of both axes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawEnvelope, drawSamples, extent, type LineScale, type Pen } from "../src/model/envelope.ts";
import { gapAfter, usualDistance } from "../src/model/gap-rule.ts";
import { SampleRing, RING_ENTRIES } from "../src/model/sample-ring.ts";
import { SeriesSlice } from "../src/model/series-slice.ts";
import { beginOf, silenceBefore } from "../src/widgets/plot-lines.ts";
import { axisOfUnits, figure, limitBands, markText, roundStep, valueMarks, valueRange } from "../src/model/value-scale.ts";

class FakePen implements Pen {
  readonly strokes: [x: number, y: number][][] = [];

  moveTo(x: number, y: number): void {
    this.strokes.push([[x, y]]);
  }

  lineTo(x: number, y: number): void {
    this.strokes.at(-1)?.push([x, y]);
  }

  get points(): [number, number][] {
    return this.strokes.flat();
  }
}

const SCALE: LineScale = { from_ms: 0, to_ms: 1_000, left: 0, width: 100, low: 0, high: 100, top: 0, height: 100, gap_ms: 50, isStepped: false };

function samplesOf(pairs: [time: number, min: number, max: number, last: number][]) {
  const column = (at: 0 | 1 | 2 | 3) => Float64Array.from(pairs, (pair) => pair[at]);
  return { times: column(0), min: column(1), max: column(2), last: column(3), length: pairs.length };
}

test("samples that are far apart have a dot each, and buckets and crowds have none", () => {
  const dots = (pairs: [number, number, number, number][], step_ms = 0) => {
    const found: [number, number][] = [];
    drawSamples({ ...samplesOf(pairs), step_ms }, SCALE, (x, y) => found.push([x, y]));
    return found;
  };
  const few: [number, number, number, number][] = [[-500, 1, 1, 1], [250, 25, 25, 25], [750, 100, 100, 100], [1_200, 1, 1, 1]];
  assert.deepEqual(dots(few), [[25, 75], [75, 0]]);
  assert.deepEqual(dots(few, 100), []);
  assert.deepEqual(dots(Array.from({ length: 50 }, (_, at) => [at * 20, 1, 1, 1])), []);
});

test("a plot whose samples are all before its time knows how long before, and since when there is anything", () => {
  const slice = (...times: number[]) => {
    const made = new SeriesSlice();
    for (const at_ms of times) made.times[made.length++] = at_ms;
    return made;
  };
  const window = { from_ms: 100, to_ms: 101 };
  assert.equal(silenceBefore([slice(40), slice(64)], window), 36);
  assert.equal(silenceBefore([slice(40), slice(64, 100.5)], window), null);
  assert.equal(silenceBefore([slice()], window), null);
  assert.equal(beginOf([slice(40)], 50), 40);
  assert.equal(beginOf([slice()], 50), 50);
  assert.equal(beginOf([slice(40)], null), null);
});

test("a spike of one sample among a million is drawn", () => {
  const pairs = Array.from({ length: 100_000 }, (_, at): [number, number, number, number] => {
    const value = at === 45_678 ? 99 : 10;
    return [at / 100, value, value, value];
  });
  const pen = new FakePen();
  assert.equal(drawEnvelope(pen, samplesOf(pairs), SCALE), 100);
  assert.equal(Math.min(...pen.points.map(([, y]) => y)), 1);
  assert.ok(pen.points.length < 600);
});

test("the extremes of a bucket are drawn where they were", () => {
  const pen = new FakePen();
  drawEnvelope(pen, samplesOf([[100, 50, 50, 50], [120, 20, 80, 50], [140, 50, 50, 50]]), SCALE);
  const column = pen.points.filter(([x]) => x === 12).map(([, y]) => y);
  assert.equal(Math.min(...column), 20);
  assert.equal(Math.max(...column), 80);
});

test("a value that only rises is a slope and no step", () => {
  const pen = new FakePen();
  drawEnvelope(pen, samplesOf([[100, 10, 10, 10], [120, 10, 30, 30], [140, 30, 50, 50]]), SCALE);
  assert.deepEqual(pen.strokes.at(-1), [[10, 90], [12, 70], [14, 50]]);
});

test("a gap lifts the pen, and a sample between two gaps is a dot", () => {
  const pen = new FakePen();
  drawEnvelope(pen, samplesOf([[100, 1, 1, 1], [120, 1, 1, 1], [500, 2, 2, 2], [900, 3, 3, 3]]), SCALE);
  const joins = pen.strokes.flatMap((stroke) => stroke.slice(1).map(([x], at) => x - stroke[at]![0]));
  assert.ok(Math.max(...joins) <= 2);
  assert.ok(pen.strokes.some((stroke) => stroke.length === 2 && stroke[0]![0] === 49.25));
});

test("what is no number is a gap, and infinity stays near the plot", () => {
  const pen = new FakePen();
  drawEnvelope(pen, samplesOf([[100, 1, 1, 1], [110, NaN, NaN, NaN], [120, 1, 1, 1], [130, Infinity, Infinity, Infinity]]), SCALE);
  assert.ok(pen.points.every(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && Math.abs(y) <= 200));
  assert.ok(!pen.strokes.some((stroke) => stroke.some(([x]) => x === 10) && stroke.some(([x]) => x === 12)));
});

test("a state holds until the next one", () => {
  const pen = new FakePen();
  drawEnvelope(pen, samplesOf([[100, 0, 0, 0], [140, 1, 1, 1]]), { ...SCALE, isStepped: true });
  assert.deepEqual(pen.strokes.at(-1)!.slice(1), [[14, 100], [14, 99]]);
});

test("the extent counts what is in the window, without infinity", () => {
  const samples = samplesOf([[0, -5, 900, 1], [100, 1, 3, 2], [200, 2, 7, 3], [300, -Infinity, 5, 5], [900, -99, 99, 0]]);
  assert.deepEqual(extent(samples, 50, 400), [1, 7]);
  assert.equal(extent(samples, 400, 500), null);
});

test("a silence is a gap when samples of a declared rate did not come", () => {
  assert.equal(gapAfter(0, 50, 20), 100);
  assert.equal(gapAfter(1_000, 50, 1_000), 2_500, "neighbouring buckets are no gap");
  assert.equal(gapAfter(100, 1, 1_000), 5_100, "slower samples than buckets are none");
  assert.equal(gapAfter(0, null, 10), 1_000);
  assert.equal(gapAfter(0, null, 60_000), 720_000, "what is sent once a minute has none after a second");
  assert.equal(usualDistance(Float64Array.from([0, 10, 20, 30, 9_000]), 5), 10);
  assert.equal(usualDistance(new Float64Array(1), 1), 0);
});

test("a ring keeps order through wrap-around and what came late", () => {
  const ring = new SampleRing();
  for (let at = 0; at < 3 * RING_ENTRIES; at += 1) ring.append(at * 10, at, at, at, 10);
  assert.equal(ring.length, RING_ENTRIES);
  const newest = ring.newest_ms;
  ring.append(newest - 15, -1, 99_999, 5, 5);
  ring.append(0, 1, 1, 1, 10);
  assert.equal(ring.length, RING_ENTRIES);
  assert.equal(ring.newest_ms, newest);
  for (let at = 1; at < ring.length; at += 1) assert.ok(ring.times[ring.slot(at)]! > ring.times[ring.slot(at - 1)]!);
  assert.equal(Math.max(...ring.max), 99_999);
});

test("ranges have round ends, hold near limits, and are not flat", () => {
  assert.deepEqual(valueRange([0, 100], [], null), [-10, 110]);
  const [low, high] = valueRange([0, 100], [140, 900], null);
  assert.ok(low <= 0 && high >= 140 && high < 900);
  const [flat_low, flat_high] = valueRange([5, 5], [], null);
  assert.ok(flat_low < 5 && flat_high > 5);
  assert.deepEqual(valueRange(null, [], null), [0, 1]);
});

test("marks are round and have the digits of their step", () => {
  assert.equal(roundStep(0.3), 0.5);
  assert.equal(roundStep(20), 20);
  assert.deepEqual(valueMarks(-0.1, 1.05, 5).map((mark) => markText(mark, 0.5)), ["0.0", "0.5", "1.0"]);
  assert.equal(markText(12_000, 1_000), "12\u202f000");
  assert.equal(figure(12.3456789, 100), "12.35");
  assert.equal(figure(0.00012346, 0.001), "0.0001235");
  assert.equal(figure(Number.NaN, 1), "–");
});

test("limits are bands from the limit outwards", () => {
  const bands = limitBands({ low_critical: 0, low: 10, high: 90, high_critical: null });
  assert.deepEqual(bands.map(({ level, from, to, edge }) => [level, from, to, edge]), [
    ["critical", -Infinity, 0, 0],
    ["warning", 0, 10, 10],
    ["warning", 90, Infinity, 90],
  ]);
  assert.deepEqual(limitBands(null), []);
});

test("each unit has an axis, left and right in turn, four at most", () => {
  assert.deepEqual(axisOfUnits(["m", "m", "K", "m", "bar"]), [
    { unit: "m", side: "left" },
    { unit: "K", side: "right" },
    { unit: "bar", side: "left" },
  ]);
  assert.equal(axisOfUnits(["a", "b", "c", "d", "e", "f"]).length, 4);
});
