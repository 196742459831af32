// The axes of values: one for each unit, a range that does not jitter, and numbers with the digits that they need. Pure.
import type { ParameterDefinition } from "./contract.ts";

export type Limits = NonNullable<ParameterDefinition["limits"]>;

export interface LimitBand {
  readonly level: "warning" | "critical";
  readonly from: number;
  readonly to: number;
  /** The end that is the limit. */
  readonly edge: number;
}

/** How much the range is longer than what it shows. */
const PADDING = 0.06;
/** A limit so near, in parts of the range, is shown too. */
const NEAR = 0.6;
const MARKS = 5;

/** A range with round ends around what is drawn, and around limits that are near. */
export function valueRange(extent: readonly [number, number] | null, limits: readonly number[], fallback: readonly [number, number] | null): [number, number] {
  if (extent === null) return fallback ? padded(fallback[0], fallback[1]) : [0, 1];
  let [low, high] = extent;
  const reach = Math.max((high - low) * NEAR, Math.abs(high) * 0.02, 1e-9);
  for (const limit of limits) {
    if (limit > high && limit - extent[1] <= reach) high = limit;
    if (limit < low && extent[0] - limit <= reach) low = limit;
  }
  return padded(low, high);
}

function padded(low: number, high: number): [number, number] {
  const span = high - low || Math.max(Math.abs(high) * 0.1, 1);
  const centre_pad = high === low ? span / 2 : span * PADDING;
  const step = roundStep((span + 2 * centre_pad) / (4 * MARKS));
  return [Math.floor((low - centre_pad) / step) * step, Math.ceil((high + centre_pad) / step) * step];
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Round values between two, at most so many. */
export function valueMarks(low: number, high: number, most: number): number[] {
  const step = roundStep((high - low) / Math.max(1, most));
  const marks = [];
  for (let mark = Math.ceil(low / step - 1e-9); mark * step <= high + step * 1e-9; mark += 1) marks.push(mark * step);
  return marks;
}

/** A value with the digits that a range makes readable: a 1,000th of it. */
export function figure(value: number, span: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.max(Math.abs(value), span);
  if (size >= 1e9 || (size < 1e-5 && size > 0)) return value.toExponential(3);
  const digits = span > 0 ? Math.min(8, Math.max(0, Math.ceil(3 - Math.log10(span)))) : 3;
  return grouped(value.toFixed(digits));
}

/** The text of a mark on an axis: all marks have the same digits. */
export function markText(value: number, step: number): string {
  if (Math.abs(value) >= 1e7 || (step < 1e-5 && step > 0)) return value === 0 ? "0" : value.toExponential(1);
  return grouped(value.toFixed(Math.min(8, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))));
}

function grouped(digits: string): string {
  const text = /^-0(?:\.0*)?$/.test(digits) ? digits.slice(1) : digits;
  const [whole = "", part] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return part === undefined ? spaced : `${spaced}.${part}`;
}

/** The stretches of an axis where a value is not as it should be. */
export function limitBands(limits: Limits | null): LimitBand[] {
  if (limits === null) return [];
  const { low_critical, low, high, high_critical } = limits;
  const bands: LimitBand[] = [];
  const below = (level: LimitBand["level"], from: number, edge: number) => bands.push({ level, from, to: edge, edge });
  const above = (level: LimitBand["level"], edge: number, to: number) => bands.push({ level, from: edge, to, edge });
  if (low_critical !== null) below("critical", Number.NEGATIVE_INFINITY, low_critical);
  if (low !== null) below("warning", low_critical ?? Number.NEGATIVE_INFINITY, low);
  if (high !== null) above("warning", high, high_critical ?? Number.POSITIVE_INFINITY);
  if (high_critical !== null) above("critical", high_critical, Number.POSITIVE_INFINITY);
  return bands;
}

export function limitValues(limits: Limits | null): number[] {
  return limits === null ? [] : Object.values(limits).filter((limit) => limit !== null);
}

/** Which axis each unit has: the first is left, the second right, and so on; at most four. */
export function axisOfUnits(units: readonly string[]): { unit: string; side: "left" | "right" }[] {
  return [...new Set(units)].slice(0, AXES_MAX).map((unit, at) => ({ unit, side: at % 2 === 0 ? "left" : "right" }));
}

/** More axes leave no room for lines: further units share the last. */
export const AXES_MAX = 4;
