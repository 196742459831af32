// The broker's answer about the past, checked by hand: an answer may have 100,000 numbers, and each is looked at once.
import { NotUnderstood } from "./shape.ts";

export type Origin = "table" | "journal" | "lake" | "none";

/** A stretch of the past of one series. It never changes. */
export interface HistoryPage {
  /** What was asked for: where there is no entry, there was no sample. */
  readonly from_ms: number;
  readonly to_ms: number;
  /** The length of a bucket; 0 if entries are single samples. */
  readonly step_ms: number;
  readonly times: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
  /** What is shown of values that are no numbers; null if all are numbers. */
  readonly texts: readonly string[] | null;
  /** The times of single samples to the nanosecond; null of buckets. */
  readonly exact: ExactTimes | null;
  readonly unit: string;
  readonly type: string;
  readonly origin: Origin;
  /** Whether the broker stopped before it had read everything. */
  readonly is_cut: boolean;
}

export interface ExactTimes {
  readonly first_ns: bigint;
  readonly after_ns: Float64Array;
}

export interface HistoryAnswer {
  readonly pages: ReadonlyMap<string, HistoryPage>;
  /** The oldest time that can be asked for; null if the broker does not say. */
  readonly oldest_ms: number | null;
}

type Row = Record<string, unknown>;

export function readHistory(text: string): HistoryAnswer {
  const told = record(JSON.parse(text));
  const from_ms = number(told, "from_ms");
  const to_ms = number(told, "to_ms");
  const pages = new Map<string, HistoryPage>();
  for (const one of array(told, "series")) {
    const row = record(one);
    pages.set(word(row, "name"), page(row, from_ms, to_ms));
  }
  const oldest = told["oldest_ms"];
  return { pages, oldest_ms: typeof oldest === "number" ? oldest : null };
}

function page(row: Row, from_ms: number, to_ms: number): HistoryPage {
  const step_ms = number(row, "step_ms");
  const times = numbers(array(row, "t"));
  endOfBuckets(times, step_ms, to_ms);
  const values = array(row, "last");
  if (values.length !== times.length) throw new NotUnderstood('"last" has another length than "t"');
  const isText = values.some((value) => typeof value === "string");
  const last = isText ? new Float64Array(times.length).fill(Number.NaN) : numbers(values);
  const extremes = (name: string) => {
    const found = array(row, name);
    return found.length === times.length && !isText ? numbers(found) : last;
  };
  return {
    from_ms,
    to_ms,
    step_ms,
    times,
    min: extremes("min"),
    max: extremes("max"),
    last,
    exact: exactTimes(row, times.length),
    texts: isText ? values.map((value) => (value === null ? "" : String(value))) : null,
    unit: typeof row["unit"] === "string" ? row["unit"] : "",
    type: typeof row["type"] === "string" ? row["type"] : "",
    origin: (["table", "journal", "lake"] as const).find((origin) => origin === row["origin"]) ?? "none",
    is_cut: row["is_cut"] === true,
  };
}

/** Milliseconds in floating point have no nanoseconds: the broker says them apart. */
function exactTimes(row: Row, length: number): ExactTimes | null {
  const { first_ns, after_ns } = row;
  if (typeof first_ns !== "string" || !/^\d{1,19}$/.test(first_ns) || !Array.isArray(after_ns)) return null;
  if (after_ns.length !== length || !after_ns.every(Number.isSafeInteger)) return null;
  return { first_ns: BigInt(first_ns), after_ns: numbers(after_ns) };
}

/** Shorter than any step: a bucket ends just before the next one begins. */
const BEFORE_MS = 0.01;

/** The last value of a bucket belongs to its end: a value is never shown before it was there. */
export function endOfBucket(begin_ms: number, step_ms: number, until_ms: number): number {
  return step_ms > 0 ? Math.max(begin_ms, Math.min(begin_ms + step_ms - BEFORE_MS, until_ms)) : begin_ms;
}

function endOfBuckets(times: Float64Array, step_ms: number, until_ms: number): void {
  for (let at = 0; at < times.length; at += 1) times[at] = endOfBucket(times[at]!, step_ms, until_ms);
}

/** JSON has no NaN and no infinity: they come as null or as words. */
function numbers(values: readonly unknown[]): Float64Array {
  const read = new Float64Array(values.length);
  for (let at = 0; at < values.length; at += 1) read[at] = asNumber(values[at]);
  return read;
}

export function asNumber(value: unknown): number {
  if (typeof value === "number") return value;
  if (value === true) return 1;
  if (value === false) return 0;
  if (value === "inf") return Number.POSITIVE_INFINITY;
  if (value === "-inf") return Number.NEGATIVE_INFINITY;
  return Number.NaN;
}

export function record(value: unknown): Row {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Row;
  throw new NotUnderstood("an answer about the past is not an object");
}

export function array(row: Row, name: string): unknown[] {
  const value = row[name];
  if (Array.isArray(value)) return value;
  throw new NotUnderstood(`"${name}" is not a list`);
}

function number(row: Row, name: string): number {
  const value = row[name];
  if (typeof value === "number") return value;
  throw new NotUnderstood(`"${name}" is not a number`);
}

export function word(row: Row, name: string): string {
  const value = row[name];
  if (typeof value === "string") return value;
  throw new NotUnderstood(`"${name}" is not text`);
}
