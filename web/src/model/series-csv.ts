// What a plot draws as a table of text: one row for each entry, with exact numbers and times in UTC. Pure.
import type { SeriesSlice } from "./series-slice.ts";
import type { ShownWindow } from "./time-control.ts";

interface CsvSeries {
  readonly name: string;
  readonly unit: string;
  /** The exact time of the sample at a time, in nanoseconds; null if it is not known. */
  readonly exactAt: (at_ms: number) => bigint | null;
  readonly slice: Pick<SeriesSlice, "times" | "min" | "max" | "last" | "length" | "texts" | "step_ms">;
}

export const CSV_HEAD = "time,name,unit,min,max,last";

export function seriesCsv(series: readonly CsvSeries[], { from_ms, to_ms }: ShownWindow): string {
  const lines = [CSV_HEAD];
  for (const { name, unit, slice, exactAt } of series) {
    const named = `${field(name)},${field(unit)}`;
    for (let at = 0; at < slice.length; at += 1) {
      const at_ms = slice.times[at]!;
      // A bucket is told by its end: one that begins in the window is drawn there.
      if (at_ms < from_ms || at_ms - slice.step_ms > to_ms) continue;
      const text = slice.texts[at];
      const values = text === undefined ? [slice.min[at]!, slice.max[at]!, slice.last[at]!].map(number) : ["", "", field(text)];
      const exact_ns = slice.step_ms === 0 ? exactAt(at_ms) : null;
      lines.push(`${exact_ns === null ? isoTime(at_ms) : isoTimeNs(exact_ns)},${named},${values.join(",")}`);
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** To the microsecond: a time in milliseconds has no more digits. */
export function isoTime(at_ms: number): string {
  const whole = Math.floor(at_ms);
  const below = Math.min(999, Math.round((at_ms - whole) * 1_000));
  const iso = new Date(whole).toISOString().slice(0, -1);
  return `${iso}${below === 0 ? "" : String(below).padStart(3, "0")}Z`;
}

/** `2026-11-19T02:01:30.000000001Z`. */
export function isoTimeNs(at_ns: bigint): string {
  const seconds = new Date(Number(at_ns / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(at_ns % 1_000_000_000n).padStart(9, "0")}Z`;
}

function number(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}

/** Quoted (RFC 4180). A sheet would take a text that begins with one of `=+-@` for a formula, so a quote stands before it. */
function field(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
