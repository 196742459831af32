// Values in large figures, with unit and state. Never draws a line.
import { labels } from "../model/relative-names.ts";
import { element, setData, setText, setTitle } from "../views/page.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf } from "./widget-reading.ts";

const NAMES_MAX = 6;
const LABEL_CHARACTERS = 24;

interface Figure {
  readonly root: HTMLElement;
  readonly value: HTMLElement;
  readonly unit: HTMLElement;
  readonly why: HTMLElement;
}

export class NumberWidget extends Instrument {
  readonly #figures: Figure[];

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    const texts = labels(this.names(), LABEL_CHARACTERS);
    this.#figures = this.names().map((name, at) => figure(name, this.names().length > 1 ? (texts[at] ?? "") : ""));
    this.element.append(...this.#figures.map(({ root }) => root));
  }

  protected draw(shown_ms: number): void {
    this.names().forEach((name, at) => {
      const { root, value, unit, why } = this.#figures[at]!;
      const reading = readingOf(name, this.context, shown_ms);
      setText(value, reading.text);
      setText(unit, reading.unit);
      setText(why, reading.why);
      setTitle(why, reading.why);
      setData(root, "severity", reading.severity);
    });
  }
}

function figure(name: string, label: string): Figure {
  const root = element("div", "big");
  root.dataset["parameter"] = name;
  const line = element("p", "big-line");
  const value = element("b", "big-value", "–");
  const unit = element("span", "big-unit");
  const why = element("p", "why");
  line.append(value, " ", unit);
  if (label) root.append(element("p", "big-label", label));
  root.append(line, why);
  return { root, value, unit, why };
}
