// What a widget shows of one parameter at the shown time: its value, and how far it can be trusted. It draws nothing.
import type { ParameterDefinition, ParameterSample } from "../model/contract.ts";
import { NewestValues, readNewest } from "../model/newest-values.ts";
import { condition } from "../model/parameter-wording.ts";
import { numberOf, valueText } from "../model/parameter-value.ts";
import { unitText } from "../model/unit-wording.ts";
import { UNKNOWN } from "../model/wording.ts";
import type { WidgetContext } from "./widget.ts";

export type Severity = ReturnType<typeof condition>["severity"];

export interface WidgetReading {
  readonly name: string;
  readonly definition: ParameterDefinition | null;
  /** The number to point at; null if it is none. */
  readonly number: number | null;
  readonly text: string;
  readonly unit: string;
  readonly severity: Severity;
  /** Why it is so, in words; empty for a good value within its limits. */
  readonly why: string;
  /** When the value was measured; null without one. */
  readonly time_ms: number | null;
}

/** One for each context: the widgets of a page ask together. */
const stores = new WeakMap<WidgetContext, NewestValues>();

export function newestOf(context: WidgetContext): NewestValues {
  const known = stores.get(context);
  if (known) return known;
  const made = new NewestValues(fetchNewest, context.requestRender);
  stores.set(context, made);
  return made;
}

async function fetchNewest(names: readonly string[], at_ms: number | null) {
  const query = new URLSearchParams(names.map((name) => ["name", name]));
  if (at_ms !== null) query.set("at_ms", String(Math.round(at_ms)));
  const answer = await fetch(`api/values?${query}`);
  if (!answer.ok) throw new Error(`the broker answers ${answer.status}`);
  return readNewest(await answer.text());
}

export function readingOf(name: string, context: WidgetContext, shown_ms: number): WidgetReading {
  const definition = context.definitions.get(name);
  const sample = sampleOf(name, context, definition, shown_ms);
  const defined = definition ?? undefinedType(name, context.series.state(name).type || "f64");
  const { severity, text: why } = condition(defined, sample, shown_ms);
  const unit = unitText(definition?.unit ?? (context.series.state(name).unit || null));
  return {
    name, definition, unit, severity,
    number: sample === null ? null : numberOf(defined.type, sample.value),
    text: sample === null ? UNKNOWN : valueText(defined.type, sample.value, defined.range),
    why: why === "good" ? "" : why,
    time_ms: sample?.time_ms ?? null,
  };
}

/** The newer of what the broker says about now and what the series has: that comes more often, and without a quality. */
function sampleOf(name: string, context: WidgetContext, definition: ParameterDefinition | null, shown_ms: number): ParameterSample | null {
  const newest = newestOf(context).get(name);
  const slice = context.series.slice(name);
  const at = slice.indexBefore(shown_ms);
  const type = definition?.type ?? context.series.state(name).type;
  const isNewer = at >= 0 && (newest === null || (newest.quality !== "stale" && slice.times[at]! > newest.time_ms));
  if (isNewer) {
    const value = slice.texts[at] ?? (type === "bool" ? slice.last[at] !== 0 : slice.last[at]!);
    const time_ms = slice.times[at]!;
    return { index: 0, value, time_ms, received_ms: time_ms, quality: newest?.quality ?? "good", why: null };
  }
  if (newest === null) return null;
  return { index: 0, value: newest.value, time_ms: newest.time_ms, received_ms: newest.time_ms, quality: newest.quality, why: null };
}

function undefinedType(name: string, type: string): ParameterDefinition {
  return { index: 0, name, type, unit: null, description: null, range: null, limits: null, rate_hz: null, source: null };
}
