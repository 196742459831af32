// What a stretch of samples comes to: lowest, highest, mean, how many, how often. Gaps count for nothing.

export interface SampleStretch {
  readonly times: ArrayLike<number>;
  readonly min: ArrayLike<number>;
  readonly max: ArrayLike<number>;
  readonly last: ArrayLike<number>;
  /** The length of a bucket; 0 if entries are single samples. */
  readonly step_ms: number;
}

export interface Statistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly last: number;
  /** Of samples; of buckets if entries are such. */
  readonly count: number;
  /** Samples a second; null if entries are buckets, or too few. */
  readonly rate_hz: number | null;
}

/** Null if there is no number. */
export function statistics({ times, min, max, last, step_ms }: SampleStretch): Statistics | null {
  let [low, high, sum, count, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, Number.NaN];
  let [from, to] = [Number.NaN, Number.NaN];
  for (let at = 0; at < times.length; at += 1) {
    const value = last[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    low = Math.min(low, min[at] ?? value);
    high = Math.max(high, max[at] ?? value);
    sum += step_ms === 0 ? value : ((min[at] ?? value) + (max[at] ?? value)) / 2;
    count += 1;
    newest = value;
    if (Number.isNaN(from)) from = times[at] ?? Number.NaN;
    to = times[at] ?? Number.NaN;
  }
  if (count === 0) return null;
  const measured = step_ms === 0 && to > from ? ((count - 1) * 1_000) / (to - from) : null;
  return { min: low, max: high, mean: sum / count, last: newest, count, rate_hz: measured };
}
