// What a widget draws of one series: a stretch of time put together from pages of the past and the ring of the present.
// Its arrays are used again and again, so nothing is allocated for a drawing.
import type { HistoryPage } from "./history-answer.ts";
import type { SampleRing } from "./sample-ring.ts";

const ENTRIES_AT_FIRST = 1_024;

type Columns = Pick<SeriesSlice, "times" | "min" | "max" | "last">;

export class SeriesSlice {
  /** Milliseconds, ascending; only the first `length` entries count. */
  times = new Float64Array(ENTRIES_AT_FIRST);
  min = new Float64Array(ENTRIES_AT_FIRST);
  max = new Float64Array(ENTRIES_AT_FIRST);
  last = new Float64Array(ENTRIES_AT_FIRST);
  /** What is shown of values that are no numbers, beside `times`; empty if all are numbers. */
  readonly texts: string[] = [];
  length = 0;
  /** The longest bucket among its entries, but for the one that only leads there; 0 if all are single samples. */
  step_ms = 0;

  clear(): void {
    this.length = this.step_ms = this.texts.length = 0;
  }

  /** Adds the entries of a page from `from_ms` until before `to_ms`; with the one that leads there where nothing is before. */
  addPage(page: HistoryPage, from_ms: number, to_ms: number): void {
    const { times } = page;
    const begin = lowerBound(times, times.length, this.#after(from_ms));
    const first = this.length === 0 ? Math.max(0, begin - 1) : begin;
    const end = lowerBound(times, times.length, to_ms);
    if (end <= first) return;
    this.#reserve(end - first);
    this.times.set(times.subarray(first, end), this.length);
    this.min.set(page.min.subarray(first, end), this.length);
    this.max.set(page.max.subarray(first, end), this.length);
    this.last.set(page.last.subarray(first, end), this.length);
    if (page.texts) for (let at = first; at < end; at += 1) this.texts.push(page.texts[at]!);
    this.length += end - first;
    if (end > begin) this.step_ms = Math.max(this.step_ms, page.step_ms);
  }

  /** Adds the entries of the ring from `from_ms` to `to_ms` that are later than what is here. */
  addRing(ring: SampleRing, from_ms: number, to_ms: number, step_ms: number): void {
    const begin = ring.indexAt(this.#after(from_ms));
    const before = this.length === 0 ? Math.max(0, begin - 1) : begin;
    const end = Math.min(ring.length, ring.indexAt(to_ms) + 1);
    if (end <= before) return;
    this.#reserve(end - before);
    const first = ring.slot(before);
    const head = Math.min(end - before, ring.times.length - first);
    this.#copy(ring, first, first + head);
    this.#copy(ring, 0, end - before - head);
    this.step_ms = Math.max(this.step_ms, step_ms);
  }

  /** The last entry at or before a time; -1 if there is none. */
  indexBefore(at_ms: number): number {
    return upperBound(this.times, this.length, at_ms) - 1;
  }

  #copy(ring: SampleRing, begin: number, end: number): void {
    if (end <= begin) return;
    this.times.set(ring.times.subarray(begin, end), this.length);
    this.min.set(ring.min.subarray(begin, end), this.length);
    this.max.set(ring.max.subarray(begin, end), this.length);
    this.last.set(ring.last.subarray(begin, end), this.length);
    if (ring.texts) for (let at = begin; at < end; at += 1) this.texts.push(ring.texts[at]!);
    this.length += end - begin;
  }

  #after(from_ms: number): number {
    return this.length === 0 ? from_ms : Math.max(from_ms, nextAfter(this.times[this.length - 1]!));
  }

  #reserve(more: number): void {
    if (this.length + more <= this.times.length) return;
    const capacity = Math.max(this.times.length * 2, this.length + more);
    const grown = (from: Float64Array) => {
      const to = new Float64Array(capacity);
      to.set(from.subarray(0, this.length));
      return to;
    };
    const columns: Columns = this;
    for (const name of ["times", "min", "max", "last"] as const) columns[name] = grown(columns[name]);
  }
}

/** The smallest time that differs on the screen: a 1,000th of a millisecond. */
function nextAfter(at_ms: number): number {
  return at_ms + 0.001;
}

export function lowerBound(times: Float64Array, length: number, at_ms: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function upperBound(times: Float64Array, length: number, at_ms: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
