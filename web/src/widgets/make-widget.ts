// Makes widgets by their kind. A new kind is one line here; an unknown one is shown as such, and keeps its options.
import { PlotWidget } from "./plot-widget.ts";
import { UnknownWidget } from "./unknown-widget.ts";
import type { MakeWidget, Widget, WidgetContext, WidgetSpec } from "./widget.ts";

const KINDS = new Map<string, MakeWidget>([
  ["plot", (spec, context) => new PlotWidget(spec, context)],
]);

/** The kinds that a person can choose. */
export function widgetKinds(): readonly string[] {
  return [...KINDS.keys()];
}

export function makeWidget(spec: WidgetSpec, context: WidgetContext): Widget {
  const make = KINDS.get(spec.kind);
  return make ? make(spec, context) : new UnknownWidget(spec);
}
