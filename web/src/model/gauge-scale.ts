// From where to where a gauge goes, and where its bands are: by the range and the limits of the definition. Pure.
import type { ParameterDefinition } from "./contract.ts";

export interface GaugeBand {
  readonly from: number;
  readonly to: number;
  readonly level: "good" | "warning" | "critical";
}

export interface GaugeScale {
  readonly low: number;
  readonly high: number;
  readonly bands: readonly GaugeBand[];
}

type Defined = Pick<ParameterDefinition, "range" | "limits">;

/** By the range, else by the limits, else by what was seen. */
export function gaugeScale(definition: Defined | null, seen: readonly [number, number] | null): GaugeScale {
  const [low, high] = ends(definition, seen);
  return { low, high, bands: bands(definition?.limits ?? null, low, high) };
}

/** Where a value is between the ends, 0 to 1. */
export function share({ low, high }: GaugeScale, value: number): number {
  return Math.min(Math.max((value - low) / (high - low), 0), 1);
}

function ends(definition: Defined | null, seen: readonly [number, number] | null): [number, number] {
  const range = definition?.range ?? null;
  if (range !== null && range[1] > range[0]) return [range[0], range[1]];
  const limits = Object.values(definition?.limits ?? {}).filter((one) => one !== null);
  const known = [...limits, ...(seen ?? [])].filter(Number.isFinite);
  if (known.length === 0) return [0, 1];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const margin = (high - low) * 0.15 || Math.max(1, Math.abs(high) * 0.1);
  return [nice(low >= 0 ? Math.max(0, low - margin) : low - margin, margin, Math.floor), nice(high + margin, margin, Math.ceil)];
}

function nice(value: number, margin: number, round: (value: number) => number): number {
  const step = 10 ** Math.floor(Math.log10(margin || 1));
  return round(value / step) * step;
}

function bands(limits: Defined["limits"], low: number, high: number): GaugeBand[] {
  if (limits === null) return [];
  const inside = (value: number) => Math.min(Math.max(value, low), high);
  const lowCritical = inside(limits.low_critical ?? low);
  const lowWarning = Math.max(lowCritical, inside(limits.low ?? lowCritical));
  const highCritical = inside(limits.high_critical ?? high);
  const highWarning = Math.min(highCritical, inside(limits.high ?? highCritical));
  const every: GaugeBand[] = [
    { from: low, to: lowCritical, level: "critical" },
    { from: lowCritical, to: lowWarning, level: "warning" },
    { from: lowWarning, to: highWarning, level: "good" },
    { from: highWarning, to: highCritical, level: "warning" },
    { from: highCritical, to: high, level: "critical" },
  ];
  return every.filter(({ from, to }) => to > from);
}
