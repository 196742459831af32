// A parameter's value in its type: as a person reads it, as a number for lines and limits, and which limit it exceeds.
import type { ParameterDefinition, ParameterSample } from "./contract.ts";
import { payload } from "./wording.ts";

/** Significant digits; the title has all. */
const DIGITS: Record<string, number> = { f32: 7, f64: 10 };
const NUMERIC = /^(?:[iu](?:8|16|32|64)|f32|f64)$/;

export interface Alarm {
  level: "warning" | "critical";
  why: string;
}

export function valueText(type: string, value: ParameterSample["value"]): string {
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return payload(value, value.length);
  const digits = DIGITS[type];
  return String(digits === undefined ? value : Number(value.toPrecision(digits)));
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
