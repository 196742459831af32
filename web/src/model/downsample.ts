// Reduces a series to the lowest and the highest sample of each pixel column, so that no peak is lost.
import type { Series } from "./value-history.ts";

interface PlotRange {
  from_ms: number;
  to_ms: number;
  columns: number;
}

export function downsample(series: Series, range: PlotRange): Series {
  const kept = columnsOf(series, range).flatMap(([begin, end]) => extremes(series.values, begin, end));
  return {
    times: Float64Array.from(kept, (index) => series.times[index] ?? Number.NaN),
    values: Float64Array.from(kept, (index) => series.values[index] ?? Number.NaN),
  };
}

/** Index ranges [begin, end) of the samples that fall in the same pixel column. */
function columnsOf(series: Series, range: PlotRange): [number, number][] {
  const width_ms = (range.to_ms - range.from_ms) / Math.max(1, range.columns);
  const ranges: [number, number][] = [];
  let begin = 0;
  let column = Number.NaN;
  series.times.forEach((time, index) => {
    const own = Math.floor((time - range.from_ms) / width_ms);
    if (own !== column && index > begin) ranges.push([begin, index]);
    if (own !== column) begin = index;
    column = own;
  });
  if (begin < series.times.length) ranges.push([begin, series.times.length]);
  return ranges;
}

/** Indices, in order, of the lowest and the highest value, and of a gap where there is one. */
function extremes(values: Float64Array, begin: number, end: number): number[] {
  let low = begin;
  let high = begin;
  let gap = -1;
  for (let index = begin; index < end; index += 1) {
    const value = values[index] ?? Number.NaN;
    if (Number.isNaN(value)) gap = index;
    else {
      if (!(value >= (values[low] ?? Number.NaN))) low = index;
      if (!(value <= (values[high] ?? Number.NaN))) high = index;
    }
  }
  return [...new Set(gap < 0 ? [low, high] : [low, high, gap])].sort((a, b) => a - b);
}
