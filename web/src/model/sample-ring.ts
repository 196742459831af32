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

  /** Adds what came at a time, to the entry of its step if there is one. The broker also tells more of the last seconds. */
  append(at_ms: number, min: number, max: number, last: number, step_ms: number): void {
    if (!(at_ms >= this.newest_ms) && this.#length > 0) return this.#amend(at_ms, min, max, last, step_ms);
    if (this.#length > 0 && isSameStep(this.newest_ms, at_ms, step_ms)) this.#merge(this.#length - 1, at_ms, min, max, last);
    else this.#put(this.#next(), at_ms, min, max, last);
  }

  /** The same for a value that is no number; each of them is an entry. */
  appendText(at_ms: number, text: string): void {
    if (at_ms <= this.newest_ms) return;
    this.texts ??= new Array<string>(RING_ENTRIES).fill("");
    const at = this.#next();
    this.times[at] = at_ms;
    this.min[at] = this.max[at] = this.last[at] = Number.NaN;
    this.texts[at] = text;
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

  /** More about an earlier time: it belongs to an entry, or stands between two. What is older than all is known already. */
  #amend(at_ms: number, min: number, max: number, last: number, step_ms: number): void {
    const after = this.indexAt(at_ms);
    for (const index of [after, after - 1]) {
      if (index < 0 || !isSameStep(this.times[this.slot(index)]!, at_ms, step_ms)) continue;
      return this.#merge(index, at_ms, min, max, last);
    }
    if (after === 0) return;
    const at = this.#length < RING_ENTRIES ? after : after - 1;
    this.#next();
    for (let index = this.#length - 1; index > at; index -= 1) this.#move(this.slot(index - 1), this.slot(index));
    this.#put(this.slot(at), at_ms, min, max, last);
  }

  #merge(index: number, at_ms: number, min: number, max: number, last: number): void {
    const at = this.slot(index);
    if (!(this.min[at]! <= min)) this.min[at] = min;
    if (!(this.max[at]! >= max)) this.max[at] = max;
    if (at_ms < this.times[at]!) return;
    this.times[at] = at_ms;
    this.last[at] = last;
  }

  #put(at: number, at_ms: number, min: number, max: number, last: number): void {
    this.times[at] = at_ms;
    this.min[at] = min;
    this.max[at] = max;
    this.last[at] = last;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.times[from]!, this.min[from]!, this.max[from]!, this.last[from]!);
    if (this.texts) this.texts[to] = this.texts[from]!;
  }

  #next(): number {
    if (this.#length < RING_ENTRIES) this.#length += 1;
    else this.#start = (this.#start + 1) % RING_ENTRIES;
    return this.slot(this.#length - 1);
  }
}

function isSameStep(newest_ms: number, at_ms: number, step_ms: number): boolean {
  if (at_ms === newest_ms) return true;
  return step_ms > 0 && Math.floor(at_ms / step_ms) === Math.floor(newest_ms / step_ms);
}
