// The last two minutes of one series: a ring that grows up to a bound and then drops the oldest.

export const HISTORY_MS = 120_000;
/** Four messages a second for two minutes, and some more. */
const SAMPLES_MAX = 512;
const SAMPLES_AT_FIRST = 16;
/** A time that is further back means that the broker's clock was set: earlier samples are dropped. */
const CLOCK_BACK_MS_MAX = 1_000;

/** A longer silence between two messages is a gap in every line. */
const PAUSE_MS_MAX = 2_000;

/** When a gap begins that a new message ends: right after the last message; null if there was no pause. */
export function gapBefore(now_ms: number, heard_ms: number | undefined): number | null {
  return heard_ms === undefined || now_ms - heard_ms <= PAUSE_MS_MAX ? null : heard_ms + 1;
}

/** Times in ms ascending, and the values at these times; NaN is a gap. */
export interface Series {
  times: Float64Array;
  values: Float64Array;
}

export class ValueHistory {
  #times = new Float64Array(SAMPLES_AT_FIRST);
  #values = new Float64Array(SAMPLES_AT_FIRST);
  #start = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Refuses a time that does not advance, so that times stay ascending; starts anew when the clock was set back. */
  append(at_ms: number, value: number): void {
    const back_ms = this.#length > 0 ? this.#timeAt(this.#length - 1) - at_ms : -1;
    if (back_ms > CLOCK_BACK_MS_MAX) this.#length = 0;
    else if (back_ms >= 0) return;
    this.#dropBefore(at_ms - HISTORY_MS);
    if (this.#length === this.#times.length) this.#makeRoom();
    const slot = (this.#start + this.#length) % this.#times.length;
    this.#times[slot] = at_ms;
    this.#values[slot] = value;
    this.#length += 1;
  }

  /** Adds a gap: nothing is known from here to the next sample. */
  breakOff(at_ms: number): void {
    if (this.#length > 0) this.append(at_ms, Number.NaN);
  }

  series(): Series {
    return { times: this.#unrolled(this.#times, this.#length), values: this.#unrolled(this.#values, this.#length) };
  }

  #timeAt(index: number): number {
    return this.#times[(this.#start + index) % this.#times.length] ?? Number.NaN;
  }

  #dropBefore(limit_ms: number): void {
    while (this.#length > 0 && this.#timeAt(0) < limit_ms) this.#dropOldest();
  }

  #dropOldest(): void {
    this.#start = (this.#start + 1) % this.#times.length;
    this.#length -= 1;
  }

  #makeRoom(): void {
    if (this.#times.length >= SAMPLES_MAX) return this.#dropOldest();
    const capacity = Math.min(SAMPLES_MAX, this.#times.length * 2);
    this.#times = this.#unrolled(this.#times, capacity);
    this.#values = this.#unrolled(this.#values, capacity);
    this.#start = 0;
  }

  #unrolled(ring: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
    const straight = new Float64Array(capacity);
    const head = ring.subarray(this.#start, Math.min(this.#start + this.#length, ring.length));
    straight.set(head);
    straight.set(ring.subarray(0, this.#length - head.length), head.length);
    return straight;
  }
}
