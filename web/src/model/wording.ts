// Numbers, sizes, times and names as a person reads them. Pure: the same input always gives the same words.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" });
const calendar = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const SIZE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

export const UNKNOWN = "–";

export function count(value: number | null): string {
  return value === null ? UNKNOWN : grouped.format(value);
}

/** "1 segment", "2 segments". */
export function counted(amount: number | null, noun: string): string {
  return `${count(amount)} ${noun}${amount === 1 ? "" : "s"}`;
}

export function perSecond(value: number | null): string {
  return value === null ? UNKNOWN : `${rate(value)} /s`;
}

/** A rate with its significant digits: 0.25, 3.5, 1,000, 1.25 M. */
export function rate(per_second: number | null): string {
  if (per_second === null) return UNKNOWN;
  if (per_second >= 1e6) return `${(per_second / 1e6).toFixed(2)} M`;
  if (per_second >= 99.95) return grouped.format(per_second);
  return trimmed(per_second.toFixed(per_second >= 0.995 ? 1 : 2));
}

export function bytes(size: number | null): string {
  if (size === null) return UNKNOWN;
  let unit = 0;
  let scaled = size;
  while (scaled >= 999.5 && unit < SIZE_UNITS.length - 1) {
    scaled /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || scaled >= 99.95 ? 0 : 1;
  return `${scaled.toFixed(digits)} ${SIZE_UNITS[unit]}`;
}

/** One unit, rounded down; less than a second is "now". */
export function age(elapsed_ms: number): string {
  const seconds = Math.floor(Math.max(0, elapsed_ms) / 1_000);
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Two units: 12 s, 3 min 5 s, 2 h 10 min, 4 d 1 h. */
export function duration(elapsed_s: number): string {
  const s = Math.floor(Math.max(0, elapsed_s));
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3_600)} h`;
}

/** In UTC, as the clock of the page and the plots have it. */
export function timeOfDay(at_ms: number): string {
  const date = new Date(at_ms);
  return Number.isNaN(date.getTime()) ? UNKNOWN : clock.format(date);
}

/** Date and time in the viewer's zone and, as in logs, in UTC: for titles. */
export function moment(at_ms: number): string {
  const date = new Date(at_ms);
  if (Number.isNaN(date.getTime())) return UNKNOWN;
  return `${calendar.format(date)} · ${date.toISOString().replace("T", " ").replace("Z", " UTC")}`;
}

/** A number short enough for an axis or a heading; the table shows values as they arrived. */
export function reading(value: number): string {
  if (Number.isNaN(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2);
  return trimmed(value.toFixed(size >= 1_000 ? 1 : 3));
}

/** What the value column says: the payload as it came, or its size where it is not text. */
export function payload(text: string | null, size: number): string {
  if (text === null) return `‹${grouped.format(size)} bytes›`;
  return text === "" ? "‹empty›" : legible(text.replace(/[\t\r\n]+/g, " "));
}

/**
 * Shows control and direction-changing characters by their code point, so that a name cannot pose as another one.
 * The two joiners stay: real scripts need them. A name that looks like such a code itself is shown by one, too.
 */
export function legible(name: string): string {
  return name.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|‹(?=U\+|no name›)/gu, (hidden) => {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `‹U+${code}›`;
  });
}

export function clientName(client_id: string): string {
  return client_id === "" ? "‹no name›" : legible(client_id);
}

function trimmed(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}
