// What a plot draws as a table of text: one row for each entry, with exact numbers and times in UTC. Pure.
import type { SeriesSlice } from "./series-slice.ts";
import type { ShownWindow } from "./time-control.ts";

interface CsvSeries {
  readonly name: string;
  readonly unit: string;
  readonly slice: Pick<SeriesSlice, "times" | "min" | "max" | "last" | "length" | "texts">;
}

export const CSV_HEAD = "time,name,unit,min,max,last";

export function seriesCsv(series: readonly CsvSeries[], { from_ms, to_ms }: ShownWindow): string {
  const lines = [CSV_HEAD];
  for (const { name, unit, slice } of series) {
    const named = `${field(name)},${field(unit)}`;
    for (let at = 0; at < slice.length; at += 1) {
      const at_ms = slice.times[at]!;
      if (at_ms < from_ms || at_ms > to_ms) continue;
      const text = slice.texts[at];
      const values = text === undefined ? [slice.min[at]!, slice.max[at]!, slice.last[at]!].map(number) : ["", "", field(text)];
      lines.push(`${isoTime(at_ms)},${named},${values.join(",")}`);
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

function number(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}

/** Quoted (RFC 4180). A sheet would take a text that begins with one of `=+-@` for a formula, so a quote stands before it. */
function field(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
