// The newest samples of one series in typed arrays: a ring with a bound. A step holds one entry, with its extremes.

/** More than any screen has columns. */
export const RING_ENTRIES = 4_096;

export class SampleRing {
  readonly times = new Float64Array(RING_ENTRIES);
  readonly min = new Float64Array(RING_ENTRIES);
  readonly max = new Float64Array(RING_ENTRIES);
  readonly last = new Float64Array(RING_ENTRIES);
  /** What is shown of values that are no numbers; null while all are numbers. */
  texts: string[] | null = null;
  #start = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The time of the oldest entry; NaN of an empty ring. */
  get oldest_ms(): number {
    return this.#length === 0 ? Number.NaN : this.times[this.#start]!;
  }

  get newest_ms(): number {
    return this.#length === 0 ? Number.NaN : this.times[this.slot(this.#length - 1)]!;
  }

  /** Where an entry is in the arrays; 0 is the oldest. */
  slot(index: number): number {
    return (this.#start + index) % RING_ENTRIES;
  }

  /** Adds what came at a time, to the newest entry if that is of the same step. A time that goes back is refused. */
  append(at_ms: number, min: number, max: number, last: number, step_ms: number): boolean {
    if (at_ms < this.newest_ms) return false;
    if (this.#length > 0 && sameStep(this.newest_ms, at_ms, step_ms)) {
      const at = this.slot(this.#length - 1);
      this.times[at] = at_ms;
      this.min[at] = Math.min(this.min[at]!, min);
      this.max[at] = Math.max(this.max[at]!, max);
      this.last[at] = last;
      return true;
    }
    const at = this.#next();
    this.times[at] = at_ms;
    this.min[at] = min;
    this.max[at] = max;
    this.last[at] = last;
    return true;
  }

  /** The same for a value that is no number; each of them is an entry. */
  appendText(at_ms: number, text: string): boolean {
    if (at_ms < this.newest_ms) return false;
    this.texts ??= new Array<string>(RING_ENTRIES).fill("");
    const at = this.#next();
    this.times[at] = at_ms;
    this.min[at] = this.max[at] = this.last[at] = Number.NaN;
    this.texts[at] = text;
    return true;
  }

  clear(): void {
    this.#start = this.#length = 0;
  }

  /** The first index whose time is `at_ms` or later. */
  indexAt(at_ms: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[this.slot(middle)]! < at_ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #next(): number {
    if (this.#length < RING_ENTRIES) this.#length += 1;
    else this.#start = (this.#start + 1) % RING_ENTRIES;
    return this.slot(this.#length - 1);
  }
}

function sameStep(newest_ms: number, at_ms: number, step_ms: number): boolean {
  if (at_ms === newest_ms) return true;
  return step_ms > 0 && Math.floor(at_ms / step_ms) === Math.floor(newest_ms / step_ms);
}
