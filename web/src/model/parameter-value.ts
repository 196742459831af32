// A parameter's value in its type: as a person reads it, as a number for lines and limits, and which limit it exceeds.
import type { ParameterDefinition, ParameterSample } from "./contract.ts";
import { payload } from "./wording.ts";

/** Significant digits of a number whose range is not known; the title has all. */
const DIGITS = 5;
/** A number with a range has steps of a ten-thousandth of it, or a little finer: instruments measure no better. */
const STEPS_DIGITS = 4;
const DECIMALS_MAX = 12;
/** Larger numbers are written with an exponent. */
const WRITTEN_MAX = 1e15;
const FLOAT = /^f(?:32|64)$/;
const NUMERIC = /^(?:[iu](?:8|16|32|64)|f32|f64)$/;

export interface Alarm {
  level: "warning" | "critical";
  why: string;
}

/**
 * A value as its type and its range ask, wherever the page shows one: no more digits than anybody reads, and none of the
 * whole part left out. 13,000.4 of 0 to 20,000 is `13000`; 1.000987 of -6 to 12 is `1.00`; 7.25 without a range is `7.25`.
 */
export function valueText(type: string, value: ParameterSample["value"], range: ParameterDefinition["range"] = null): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return payload(value, value.length);
  if (type === "bool") return value === 0 ? "off" : "on";
  if (!FLOAT.test(type) && Number.isInteger(value)) return String(value);
  const span = range === null ? 0 : range[1] - range[0];
  if (!(span > 0) || !Number.isFinite(span) || Math.abs(value) >= WRITTEN_MAX) return numberText(value);
  return unsignedZero(value.toFixed(Math.min(DECIMALS_MAX, Math.max(0, STEPS_DIGITS - Math.ceil(Math.log10(span))))));
}

/** A number of which no range is known: its first digits, or as many as another number of this size would have. */
export function numberText(value: number, size = 0): string {
  const most = Math.max(Math.abs(value), Math.abs(size));
  if (!Number.isFinite(most)) return String(value);
  if (most >= WRITTEN_MAX) return value.toExponential(DIGITS - 1);
  if (most < 10 ** -DECIMALS_MAX) return String(Number(value.toPrecision(DIGITS)));
  const decimals = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(most)));
  return unsignedZero(String(Number(value.toFixed(decimals))));
}

function unsignedZero(digits: string): string {
  return digits.replace(/^-(0(?:\.0+)?)$/, "$1");
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
