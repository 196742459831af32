// Turns samples into the strokes of a line: for each pixel column its lowest and highest value, so that no spike is lost.
// A gap lifts the pen. Pure: the pen may be a canvas, or a test.
import { lowerBound, type SeriesSlice, upperBound } from "./series-slice.ts";

export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export interface LineScale {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly left: number;
  readonly width: number;
  /** The values at the bottom and at the top. */
  readonly low: number;
  readonly high: number;
  readonly top: number;
  readonly height: number;
  /** A longer distance between two samples is a gap. */
  readonly gap_ms: number;
  /** Values hold until the next sample: Booleans, states. */
  readonly isStepped: boolean;
}

type Samples = Pick<SeriesSlice, "times" | "min" | "max" | "last" | "length">;

/** In pixels: what lies so little beside a straight line is not drawn by itself. */
const BESIDE_PX = 1.2;

/** Draws the line; returns how many columns have a value. */
export function drawEnvelope(pen: Pen, samples: Samples, scale: LineScale): number {
  const { times, min, max, last, length } = samples;
  const { left, gap_ms, isStepped } = scale;
  const per_ms = scale.width / (scale.to_ms - scale.from_ms);
  const per_unit = scale.height / (scale.high - scale.low);
  const bottom = scale.top + scale.height;
  const y = (value: number) => clamped(bottom - (value - scale.low) * per_unit, scale);
  let columns = 0;
  let before_ms = Number.NaN;
  let before_y = 0;
  let at = 0;
  while (at < length) {
    const first_ms = times[at]!;
    const x = left + (first_ms - scale.from_ms) * per_ms;
    const column = Math.floor(x);
    let low = min[at]!;
    let high = max[at]!;
    let value = last[at]!;
    at += 1;
    // A gap inside a column cannot be seen: the samples of one column are one stroke.
    while (at < length && Math.floor(left + (times[at]! - scale.from_ms) * per_ms) === column) {
      if (!(min[at]! >= low)) low = min[at]!;
      if (!(max[at]! <= high)) high = max[at]!;
      value = last[at]!;
      at += 1;
    }
    if (Number.isNaN(value) && Number.isNaN(low)) {
      before_ms = Number.NaN;
      continue;
    }
    columns += 1;
    // The first value of the column is not known when buckets are merged; the nearest extreme is as good.
    const isJoined = first_ms - before_ms <= gap_ms;
    if (isJoined && isStepped) pen.lineTo(x, before_y);
    const isBetween = isJoined && isWithin(y(high), y(low), before_y, y(value));
    if (isJoined) pen.lineTo(x, low === high || isBetween ? y(value) : nearest(before_y, y(low), y(high)));
    if (isBetween) {
      // A value that only rises or falls is a slope and no step.
    } else if (low < high) {
      pen.moveTo(x, y(low));
      pen.lineTo(x, y(high));
      pen.moveTo(x, y(value));
    } else if (!isJoined) {
      // A single sample between two gaps is a dot.
      pen.moveTo(x - 0.75, y(value));
      pen.lineTo(x + 0.75, y(value));
      pen.moveTo(x, y(value));
    }
    before_ms = times[at - 1]!;
    before_y = y(value);
  }
  return columns;
}

/** In pixels: samples that are further apart are told apart by a dot for each. */
const APART_PX = 14;

/** Calls `dot` for each sample in the shown time if they are so far apart that each can be seen. */
export function drawSamples(samples: Samples & Pick<SeriesSlice, "step_ms">, scale: LineScale, dot: (x: number, y: number) => void): void {
  const { times, last } = samples;
  if (samples.step_ms > 0) return;
  const begin = lowerBound(times, samples.length, scale.from_ms);
  const end = upperBound(times, samples.length, scale.to_ms);
  if ((end - begin) * APART_PX > scale.width) return;
  for (let at = begin; at < end; at += 1) {
    if (Number.isNaN(last[at]!)) continue;
    const share = (last[at]! - scale.low) / (scale.high - scale.low);
    dot(scale.left + (scale.width * (times[at]! - scale.from_ms)) / (scale.to_ms - scale.from_ms), clamped(scale.top + scale.height * (1 - share), scale));
  }
}

/** Whether all values of a column lie between the value before and the last one; above is a smaller y. */
function isWithin(top: number, bottom: number, before_y: number, y: number): boolean {
  return top >= Math.min(before_y, y) - BESIDE_PX && bottom <= Math.max(before_y, y) + BESIDE_PX;
}

function nearest(y: number, low: number, high: number): number {
  return Math.abs(y - low) < Math.abs(y - high) ? low : high;
}

/** Far outside the plot a canvas loses its precision, and infinity has no place. */
function clamped(y: number, { top, height }: LineScale): number {
  return Math.min(Math.max(y, top - height), top + 2 * height);
}

/** The lowest and the highest value between two times; null if there is none. */
export function extent(samples: Samples, from_ms: number, to_ms: number): [low: number, high: number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < samples.length; at += 1) {
    const time = samples.times[at]!;
    if (time < from_ms || time > to_ms) continue;
    if (samples.min[at]! < low && Number.isFinite(samples.min[at]!)) low = samples.min[at]!;
    if (samples.max[at]! > high && Number.isFinite(samples.max[at]!)) high = samples.max[at]!;
  }
  return low <= high ? [low, high] : null;
}
