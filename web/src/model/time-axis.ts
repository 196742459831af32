// Where a time axis has its marks, and what stands at them: from a year to a microsecond, in UTC. Pure.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** In milliseconds, up to weeks. Months and years follow the calendar. */
const INCREMENTS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500,
  ...[1, 2, 5, 10, 15, 30].map((s) => s * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * MINUTE),
  ...[1, 2, 3, 6, 12].map((h) => h * HOUR),
  ...[1, 2, 7].map((d) => d * DAY),
];
const MONTHS = [1, 3, 6, 12];
/** A mean one: only to choose an increment. */
const MONTH = 30.44 * DAY;
/** 5 January 1970 was a Monday. */
const MONDAY = 4 * DAY;
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export interface TimeMarks {
  /** Ascending; the distance is `step_ms`, or a number of months. */
  readonly at_ms: number[];
  readonly step_ms: number;
}

/** At most so many marks between two times. */
export function timeMarks(from_ms: number, to_ms: number, most: number): TimeMarks {
  const least_ms = (to_ms - from_ms) / Math.max(1, most);
  const step_ms = INCREMENTS.find((increment) => increment >= least_ms);
  if (step_ms === undefined) return monthMarks(from_ms, to_ms, least_ms);
  const origin_ms = step_ms === 7 * DAY ? MONDAY : 0;
  const first = Math.ceil((from_ms - origin_ms) / step_ms);
  const last = Math.floor((to_ms - origin_ms) / step_ms);
  const at_ms = [];
  for (let mark = first; mark <= last; mark += 1) at_ms.push(origin_ms + rounded(mark, step_ms));
  return { at_ms, step_ms };
}

/** A product of a fraction is not exact: 3 times 0.1 would be 0.30000000000000004. */
function rounded(mark: number, step_ms: number): number {
  return step_ms >= 1 ? mark * step_ms : mark / Math.round(1 / step_ms);
}

function monthMarks(from_ms: number, to_ms: number, least_ms: number): TimeMarks {
  const months = MONTHS.find((count) => count * MONTH >= least_ms) ?? 12 * Math.ceil(least_ms / (12 * MONTH));
  const begin = new Date(from_ms);
  let month = Math.floor((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months;
  const at_ms = [];
  for (let mark = monthBegin(month); mark <= to_ms; mark = monthBegin(month)) {
    if (mark >= from_ms) at_ms.push(mark);
    month += months;
  }
  return { at_ms, step_ms: months * MONTH };
}

/** Of months counted from the year 0. */
function monthBegin(month: number): number {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
}

/** The labels of the marks: in a second line what they share, at the first and wherever it changes. */
export function timeLabels({ at_ms, step_ms }: TimeMarks): string[] {
  let shared = "";
  return at_ms.map((at) => {
    const [fine, coarse] = labelParts(at, step_ms);
    const isNew = coarse !== shared;
    shared = coarse;
    return isNew && coarse ? `${fine}\n${coarse}` : fine;
  });
}

function labelParts(at_ms: number, step_ms: number): [fine: string, coarse: string] {
  const iso = new Date(Math.floor(at_ms)).toISOString();
  const day = iso.slice(0, 10);
  if (step_ms < SECOND) return [`${iso.slice(17, 19)}${fraction(at_ms, step_ms)} s`, `${day} ${iso.slice(11, 16)}`];
  if (step_ms < MINUTE) return [iso.slice(11, 19), day];
  if (step_ms < DAY) return [iso.slice(11, 16), day];
  const month = NAMES[Number(iso.slice(5, 7)) - 1] ?? "";
  if (step_ms < MONTH) return [`${iso.slice(8, 10)} ${month}`, iso.slice(0, 4)];
  if (step_ms < 12 * MONTH) return [month, iso.slice(0, 4)];
  return [iso.slice(0, 4), ""];
}

/** The part below a second, with the digits that the step needs. */
function fraction(at_ms: number, step_ms: number): string {
  const digits = Math.min(6, Math.max(1, Math.ceil(3 - Math.log10(step_ms) - 1e-9)));
  const below_s = (at_ms - Math.floor(at_ms / SECOND) * SECOND) / SECOND;
  const text = Math.min(below_s, 1 - 10 ** -digits).toFixed(digits);
  return text.slice(1);
}

/** A time to the digit that a span shows: `2026-11-19 02:01:30.250`. */
export function timeText(at_ms: number, span_ms: number): string {
  if (!Number.isFinite(at_ms) || Math.abs(at_ms) > 8.64e15) return "–";
  const iso = new Date(Math.floor(at_ms)).toISOString().replace("T", " ");
  const whole = iso.slice(0, -5);
  if (span_ms > 2 * DAY) return whole;
  if (span_ms > 5_000) return iso.slice(0, -1);
  return `${whole}${fraction(at_ms, 0.001)}`;
}

/** A difference of two times: `+1.250 s`, `-2 h 03 min 10 s`. */
export function spanText(difference_ms: number): string {
  const sign = difference_ms < 0 ? "-" : "";
  const ms = Math.abs(difference_ms);
  if (ms < 1) return `${sign}${Number((ms * 1_000).toPrecision(4))} µs`;
  if (ms < SECOND) return `${sign}${Number(ms.toPrecision(4))} ms`;
  if (ms < MINUTE) return `${sign}${Number((ms / SECOND).toPrecision(5))} s`;
  if (ms < HOUR) return `${sign}${Math.floor(ms / MINUTE)} min ${rest(ms, MINUTE, SECOND)} s`;
  if (ms < DAY) return `${sign}${Math.floor(ms / HOUR)} h ${rest(ms, HOUR, MINUTE)} min`;
  return `${sign}${Math.floor(ms / DAY)} d ${rest(ms, DAY, HOUR)} h`;
}

function rest(ms: number, unit_ms: number, part_ms: number): string {
  return String(Math.floor((ms % unit_ms) / part_ms)).padStart(2, "0");
}
