// A parameter's value in its type: as a person reads it, as a number for lines and limits, and which limit it exceeds.
import type { ParameterDefinition, ParameterSample } from "./contract.ts";
import { payload } from "./wording.ts";

/** Significant digits of a number whose range is not known; the title has all. */
const DIGITS = 6;
/** A number with a range is shown in steps of about a hundred-thousandth of it. */
const STEPS = 100_000;
const DECIMALS_MAX = 12;
/** Larger numbers are written with an exponent. */
const WRITTEN_MAX = 1e15;
const FLOAT = /^f(?:32|64)$/;
const NUMERIC = /^(?:[iu](?:8|16|32|64)|f32|f64)$/;

export interface Alarm {
  level: "warning" | "critical";
  why: string;
}

/** A value as its type and its range ask: no more digits than anybody reads, and none of the whole part left out. */
export function valueText(type: string, value: ParameterSample["value"], range: ParameterDefinition["range"] = null): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return payload(value, value.length);
  if (!FLOAT.test(type)) return String(value);
  if (Math.abs(value) >= WRITTEN_MAX) return value.toExponential(DIGITS - 1);
  const span = range === null ? 0 : range[1] - range[0];
  if (span > 0 && Number.isFinite(span)) return value.toFixed(decimalsOf(span));
  const whole = Math.floor(Math.log10(Math.max(1, Math.abs(value)))) + 1;
  return String(Number(whole >= DIGITS ? value.toFixed(0) : value.toPrecision(DIGITS)));
}

/** 1 for a span of 20,000 and 4 for one of 10: always as many, so that digits stay in their column. */
function decimalsOf(span: number): number {
  return Math.min(DECIMALS_MAX, Math.max(0, -Math.floor(Math.log10(span / STEPS))));
}

/** The value without rounding, for titles and details. */
export function exactText(value: ParameterSample["value"]): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "string" ? payload(value, value.length) : String(value);
}

/** Null if it is not a number: a text, a label, `nan`. */
export function numberOf(type: string, value: ParameterSample["value"]): number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (!NUMERIC.test(type)) return null;
  if (value === "inf") return Number.POSITIVE_INFINITY;
  if (value === "-inf") return Number.NEGATIVE_INFINITY;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

/** The limit that a value exceeds, the worst first; null where there is none. */
export function alarmOf(definition: ParameterDefinition, value: ParameterSample["value"]): Alarm | null {
  const { limits, type, unit } = definition;
  const number = numberOf(type, value);
  if (limits === null || number === null) return null;
  const of = (limit: number | null) => `${limit}${unit === null ? "" : ` ${unit}`}`;
  const above = (limit: number | null) => limit !== null && number > limit;
  const below = (limit: number | null) => limit !== null && number < limit;
  const { low_critical, low, high, high_critical } = limits;
  if (above(high_critical)) return { level: "critical", why: `above the critical limit of ${of(high_critical)}` };
  if (below(low_critical)) return { level: "critical", why: `below the critical limit of ${of(low_critical)}` };
  if (above(high)) return { level: "warning", why: `above the limit of ${of(high)}` };
  if (below(low)) return { level: "warning", why: `below the limit of ${of(low)}` };
  return null;
}
