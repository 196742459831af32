// Chosen parameters as rows: value, unit, age and state. Names and values go in as text only.
import { labels } from "../model/relative-names.ts";
import { age, legible, UNKNOWN } from "../model/wording.ts";
import { element, setData, setText, setTitle } from "../views/page.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf } from "./widget-reading.ts";

const NAMES_MAX = 24;
const PIXELS_OF_A_CHARACTER = 7.6;
const COLUMNS = ["Parameter", "Value", "Unit", "Age", "State"] as const;

type Cells = Record<(typeof COLUMNS)[number] | "root", HTMLElement>;

export class TableWidget extends Instrument {
  readonly #rows: Cells[];

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    this.#rows = this.names().map(row);
    const head = element("div", "value-line value-line-head");
    head.role = "row";
    head.append(...COLUMNS.map((title) => cell(title, "columnheader", title)));
    const scroll = element("div", "instrument-scroll");
    scroll.tabIndex = 0;
    scroll.role = "table";
    scroll.ariaLabel = "Chosen parameters";
    scroll.append(head, ...this.#rows.map(({ root }) => root));
    this.element.append(scroll);
    this.resize();
  }

  override resize(): void {
    const room = Math.max(12, (this.element.clientWidth * 0.42) / PIXELS_OF_A_CHARACTER);
    const texts = labels(this.names(), room);
    this.#rows.forEach(({ Parameter }, at) => setText(Parameter, texts[at] ?? ""));
  }

  protected draw(shown_ms: number): void {
    this.names().forEach((name, at) => {
      const cells = this.#rows[at]!;
      const reading = readingOf(name, this.context, shown_ms);
      setText(cells.Value, reading.text);
      setText(cells.Unit, reading.unit);
      setText(cells.Age, reading.time_ms === null ? UNKNOWN : age(shown_ms - reading.time_ms));
      setText(cells.State, reading.why || "good");
      setTitle(cells.State, reading.why);
      setTitle(cells.Parameter, [legible(name), legible(reading.definition?.description ?? "")].filter(Boolean).join("\n"));
      setData(cells.root, "severity", reading.severity);
    });
  }
}

function row(name: string): Cells {
  const root = element("div", "value-line");
  root.role = "row";
  root.dataset["parameter"] = name;
  const [Parameter, Value, Unit, Age, State] = COLUMNS.map((title) => cell(title, "cell", "")) as [HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];
  root.append(Parameter, Value, Unit, Age, State);
  return { root, Parameter, Value, Unit, Age, State };
}

function cell(title: string, role: string, text: string): HTMLElement {
  const made = element("span", `value-${title.toLowerCase()}`, text);
  made.role = role;
  return made;
}
