// How long a series may be silent before its line is interrupted. Pure.

/** So many samples in a row did not come. */
const MISSED = 5;
/** Without a declared rate, a silence is one that is so many times longer than usual. */
const UNUSUAL = 12;
const SILENCE_MS_MIN = 1_000;
/** Two samples that should be in neighbouring buckets are at most so far apart. */
const BUCKETS = 2.5;

/** The longest distance between two samples that a line crosses. */
export function gapAfter(step_ms: number, rate_hz: number | null, usual_ms: number): number {
  const bucket_ms = step_ms * BUCKETS;
  if (rate_hz !== null && rate_hz > 0) return Math.max(bucket_ms, (MISSED * 1_000) / rate_hz + step_ms);
  return Math.max(bucket_ms, usual_ms * UNUSUAL, SILENCE_MS_MIN);
}

const LOOKED_AT = 64;
const distances = new Float64Array(LOOKED_AT);

/** The median distance between samples, of some that are spread over them; 0 where there are fewer than two. */
export function usualDistance(times: Float64Array, length: number): number {
  const count = Math.min(LOOKED_AT, length - 1);
  if (count < 1) return 0;
  const stride = (length - 1) / count;
  for (let at = 0; at < count; at += 1) {
    const index = Math.floor(at * stride);
    distances[at] = times[index + 1]! - times[index]!;
  }
  const some = distances.subarray(0, count).sort();
  return some[count >>> 1]!;
}
