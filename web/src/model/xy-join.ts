// Two series joined by time: where one was when the other had its value. Pure; its arrays are used again.

export interface TimedValues {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly length: number;
}

export class JoinedPoints {
  xs = new Float64Array(1_024);
  ys = new Float64Array(1_024);
  times = new Float64Array(1_024);
  length = 0;

  /**
   * A point for each sample of either series from when both have a value, each with the newest value of the other.
   * A value that is older than `apart_ms` counts no more: the trail has a gap (NaN) instead of a point.
   */
  join(x: TimedValues, y: TimedValues, from_ms: number, to_ms: number, apart_ms: number): void {
    this.length = 0;
    let atX = -1;
    let atY = -1;
    for (;;) {
      const nextX = atX + 1 < x.length ? x.times[atX + 1]! : Number.POSITIVE_INFINITY;
      const nextY = atY + 1 < y.length ? y.times[atY + 1]! : Number.POSITIVE_INFINITY;
      const at_ms = Math.min(nextX, nextY);
      if (!(at_ms <= to_ms)) return;
      if (nextX === at_ms) atX += 1;
      if (nextY === at_ms) atY += 1;
      if (atX < 0 || atY < 0 || at_ms < from_ms) continue;
      const isApart = at_ms - x.times[atX]! > apart_ms || at_ms - y.times[atY]! > apart_ms;
      if (isApart) this.#push(at_ms, Number.NaN, Number.NaN);
      else this.#push(at_ms, x.values[atX]!, y.values[atY]!);
    }
  }

  #push(at_ms: number, x: number, y: number): void {
    const isGap = Number.isNaN(x) || Number.isNaN(y);
    if (isGap && (this.length === 0 || Number.isNaN(this.xs[this.length - 1]!))) return;
    if (this.length === this.xs.length) this.#grow();
    this.times[this.length] = at_ms;
    this.xs[this.length] = isGap ? Number.NaN : x;
    this.ys[this.length] = isGap ? Number.NaN : y;
    this.length += 1;
  }

  #grow(): void {
    for (const name of ["xs", "ys", "times"] as const) {
      const grown = new Float64Array(this[name].length * 2);
      grown.set(this[name]);
      this[name] = grown;
    }
  }
}
