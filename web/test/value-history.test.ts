// The last two minutes of a value, decimated to what a pixel can show.
import assert from "node:assert/strict";
import { test } from "node:test";
import { downsample } from "../src/model/downsample.ts";
import { HISTORY_MS, type Series, ValueHistory } from "../src/model/value-history.ts";

function seriesOf(pairs: [number, number][]): Series {
  return { times: Float64Array.from(pairs, ([time]) => time), values: Float64Array.from(pairs, ([, value]) => value) };
}

test("a history keeps order through growth and wrap-around", () => {
  const history = new ValueHistory();
  for (let index = 0; index < 3_000; index += 1) history.append(index * 100, index);
  const { times, values } = history.series();
  assert.equal(values.at(-1), 2_999);
  assert.equal(times.length, values.length);
  for (let index = 1; index < times.length; index += 1) assert.equal(times[index]! - times[index - 1]!, 100);
});

test("a history has a bound however fast samples come", () => {
  const history = new ValueHistory();
  for (let index = 0; index < 10_000; index += 1) history.append(index, index);
  assert.equal(history.length, 512);
});

test("a history forgets what is older than two minutes", () => {
  const history = new ValueHistory();
  history.append(0, 1);
  history.append(1_000, 2);
  history.append(HISTORY_MS + 500, 3);
  assert.deepEqual([...history.series().values], [2, 3]);
});

test("a time that does not advance is refused", () => {
  const history = new ValueHistory();
  history.append(10, 1);
  history.append(10, 2);
  history.append(9, 3);
  assert.deepEqual([...history.series().values], [1]);
});

test("an envelope keeps the lowest and the highest of every pixel column, in order", () => {
  const series = seriesOf([[0, 5], [1, 9], [2, 1], [3, 4], [10, 7], [11, 8]]);
  const reduced = downsample(series, { from_ms: 0, to_ms: 20, columns: 2 });
  assert.deepEqual([...reduced.times], [1, 2, 10, 11]);
  assert.deepEqual([...reduced.values], [9, 1, 7, 8]);
});

test("an envelope never holds more than two samples a column and loses no peak", () => {
  const pairs = Array.from({ length: 500 }, (_, index): [number, number] => [index, Math.sin(index * 1.7) * index]);
  const reduced = downsample(seriesOf(pairs), { from_ms: 0, to_ms: 500, columns: 40 });
  assert.ok(reduced.values.length <= 80);
  assert.equal(Math.max(...reduced.values), Math.max(...pairs.map(([, value]) => value)));
  assert.equal(Math.min(...reduced.values), Math.min(...pairs.map(([, value]) => value)));
});

test("a gap survives the envelope", () => {
  const reduced = downsample(seriesOf([[0, 1], [1, Number.NaN], [2, 3]]), { from_ms: 0, to_ms: 10, columns: 1 });
  assert.deepEqual([...reduced.values], [1, Number.NaN, 3]);
});

test("a gap stands where a history broke off, and an empty one has nothing to break off", () => {
  const history = new ValueHistory();
  history.breakOff(0);
  history.append(1, 7);
  history.breakOff(2);
  history.append(9, 8);
  assert.deepEqual([...history.series().values], [7, Number.NaN, 8]);
});

test("a history starts anew when the broker's clock is set back", () => {
  const history = new ValueHistory();
  for (const at_ms of [60_000, 60_250, 100]) history.append(at_ms, at_ms);
  assert.deepEqual([...history.series().times], [100]);
});
