// A series as the SVG path of a small line without axes: scaled to its own range, with gaps.
import { downsample } from "./downsample.ts";
import type { Series } from "./value-history.ts";

export interface Box {
  width: number;
  height: number;
}

/** The `d` of an SVG path over `[to_ms - span_ms, to_ms]`; empty when there is nothing to draw. */
export function sparkline(series: Series, to_ms: number, span_ms: number, { width, height }: Box): string {
  const from_ms = to_ms - span_ms;
  const first = series.times.findIndex((time) => time >= from_ms);
  if (first < 0) return "";
  const recent = { times: series.times.subarray(first), values: series.values.subarray(first) };
  const { times, values } = downsample(recent, { from_ms, to_ms, columns: width });
  const known = values.filter((value) => !Number.isNaN(value));
  const low = Math.min(...known);
  const scale = (height - 2) / (Math.max(...known) - low);
  const y = (value: number) => (Number.isFinite(scale) ? height - 1 - (value - low) * scale : height / 2);
  let pen = "M";
  let path = "";
  values.forEach((value, at) => {
    if (Number.isNaN(value)) pen = "M";
    else {
      const x = (((times[at] ?? from_ms) - from_ms) / span_ms) * width;
      path += `${pen}${x.toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
    }
  });
  return path;
}
