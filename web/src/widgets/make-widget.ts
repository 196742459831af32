// Makes widgets by their kind. A new kind is one line here; an unknown one is shown as such, and keeps its options.
import { BrokerWidget } from "./broker-widget.ts";
import { GaugeWidget } from "./gauge-widget.ts";
import { LogWidget } from "./log-widget.ts";
import { NumberWidget } from "./number-widget.ts";
import { PlotWidget } from "./plot-widget.ts";
import { StatesWidget } from "./states-widget.ts";
import { TableWidget } from "./table-widget.ts";
import { XyWidget } from "./xy-widget.ts";
import { UnknownWidget } from "./unknown-widget.ts";
import type { MakeWidget, Widget, WidgetContext, WidgetSpec } from "./widget.ts";

const KINDS = new Map<string, MakeWidget>([
  ["plot", (spec, context) => new PlotWidget(spec, context)],
  ["gauge", (spec, context) => new GaugeWidget(spec, context)],
  ["number", (spec, context) => new NumberWidget(spec, context)],
  ["xy", (spec, context) => new XyWidget(spec, context)],
  ["states", (spec, context) => new StatesWidget(spec, context)],
  ["log", (spec, context) => new LogWidget(spec, context)],
  ["broker", (spec, context) => new BrokerWidget(spec, context)],
  ["table", (spec, context) => new TableWidget(spec, context)],
]);

/** The kinds that a person can choose. */
export function widgetKinds(): readonly string[] {
  return [...KINDS.keys()];
}

export function makeWidget(spec: WidgetSpec, context: WidgetContext): Widget {
  const make = KINDS.get(spec.kind);
  return make ? make(spec, context) : new UnknownWidget(spec);
}
