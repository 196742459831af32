// What a plot draws: one line for each parameter, with its axis, its limits and its colour. Pure but for the stores it reads.
import type { ParameterDefinition } from "../model/contract.ts";
import { AXES_MAX, axisOfUnits, limitValues, valueRange } from "../model/value-scale.ts";
import { extent } from "../model/envelope.ts";
import { gapAfter, usualDistance } from "../model/gap-rule.ts";
import type { SeriesSlice } from "../model/series-slice.ts";
import type { ShownWindow } from "../model/time-control.ts";
import { unitText } from "../model/unit-wording.ts";
import type { WidgetContext } from "./widget.ts";

export interface PlotLine {
  readonly name: string;
  readonly unit: string;
  readonly definition: ParameterDefinition | null;
  /** Which of the axes. */
  readonly axis: number;
  /** Which of the colours of the theme, from 1. */
  readonly colour: number;
}

export interface PlotAxis {
  readonly unit: string;
  readonly side: "left" | "right";
}

/** Colours of lines in the theme. */
export const COLOURS = 8;
const STEPPED = new Set(["bool", "enum"]);

export function plotLines(names: readonly string[], { series, definitions }: WidgetContext): PlotLine[] {
  const found = names.map((name, at) => {
    const definition = definitions.get(name);
    return { name, definition, unit: unitText(definition?.unit ?? series.state(name).unit), colour: (at % COLOURS) + 1 };
  });
  const axes = axisOfUnits(found.map(({ unit }) => unit));
  const last = Math.min(AXES_MAX, axes.length) - 1;
  return found.map((line) => {
    const axis = axes.findIndex(({ unit }) => unit === line.unit);
    return { ...line, axis: axis < 0 ? last : axis };
  });
}

export function plotAxes(lines: readonly PlotLine[]): PlotAxis[] {
  return axisOfUnits(lines.map(({ unit }) => unit));
}

/** The values at the bottom and at the top of an axis. */
export function rangeOf(axis: number, lines: readonly PlotLine[], context: WidgetContext, window: ShownWindow): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let fallback: [number, number] | null = null;
  const limits: number[] = [];
  for (const line of lines) {
    if (line.axis !== axis) continue;
    const found = extent(context.series.slice(line.name), window.from_ms, window.to_ms);
    if (found && found[0] < low) low = found[0];
    if (found && found[1] > high) high = found[1];
    limits.push(...limitValues(line.definition?.limits ?? null));
    fallback ??= line.definition?.range ?? null;
  }
  if (lines.some((line) => line.axis === axis && isStepped(line))) [low, high] = [Math.min(low, 0), Math.max(high, 1)];
  return valueRange(low <= high ? [low, high] : null, limits, fallback);
}

export function isStepped({ definition }: PlotLine): boolean {
  return STEPPED.has(definition?.type ?? "");
}

export function gapOf(line: PlotLine, slice: SeriesSlice): number {
  return gapAfter(slice.step_ms, line.definition?.rate_hz ?? null, usualDistance(slice.times, slice.length));
}

/** From when on there can be samples: the oldest that is kept, or what these lines have of earlier; null if it is not known. */
export function beginOf(slices: readonly SeriesSlice[], oldest_ms: number | null): number | null {
  if (oldest_ms === null) return null;
  return slices.reduce((begin_ms, { times, length, step_ms }) => (length > 0 ? Math.min(begin_ms, times[0]! - step_ms) : begin_ms), oldest_ms);
}

/** How long before the shown time the newest sample is, where there is none in it; null if there is, or none before it either. */
export function silenceBefore(slices: readonly SeriesSlice[], { from_ms, to_ms }: ShownWindow): number | null {
  let newest_ms = Number.NEGATIVE_INFINITY;
  for (const slice of slices) {
    const at = slice.indexBefore(to_ms);
    if (at >= 0) newest_ms = Math.max(newest_ms, slice.times[at]!);
  }
  return newest_ms < from_ms && newest_ms > Number.NEGATIVE_INFINITY ? from_ms - newest_ms : null;
}
