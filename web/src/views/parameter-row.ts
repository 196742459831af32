// One row of the parameters. Rows are few and are given another parameter as the table scrolls.
import type { ParameterSample } from "../model/contract.ts";
import type { ParameterRecord } from "../model/parameter-store.ts";
import { exactText, valueText } from "../model/parameter-value.ts";
import { condition, rateText } from "../model/parameter-wording.ts";
import type { Series } from "../model/value-history.ts";
import { age, legible, moment, UNKNOWN } from "../model/wording.ts";
import { element, setData, setText, setTitle } from "./page.ts";
import { cell } from "./rows-panel.ts";
import { SparklineView } from "./sparkline-view.ts";

/** What a row shows of its parameter. */
export interface ShownRow {
  readonly record: ParameterRecord;
  /** Its place among all rows, from 0. */
  readonly row: number;
  /** The name as far as there is room. */
  readonly name: string;
  /** The sample at the shown time. */
  readonly sample: ParameterSample | null;
  readonly line: Series;
  readonly is_favourite: boolean;
  readonly is_active: boolean;
  readonly is_open: boolean;
  /** The shown time. */
  readonly at_ms: number;
}

export class ParameterRow {
  readonly root = element("div", "value-row parameter-row");
  readonly #star = element("button", "star");
  readonly #name = cell("topic");
  readonly #value = cell("value");
  readonly #unit = cell("unit");
  readonly #age = cell("age");
  readonly #rate = cell("rate");
  readonly #state = cell("state");
  readonly #spark = new SparklineView();
  #shown: ShownRow | null = null;

  constructor() {
    this.root.role = "row";
    const line = cell("spark");
    line.append(this.#spark.root);
    const mark = cell("star");
    this.#star.type = "button";
    this.#star.tabIndex = -1;
    mark.append(this.#star);
    this.root.append(mark, this.#name, this.#value, this.#unit, this.#age, this.#rate, this.#state, line);
    // A time is costly to write out, and few are ever pointed at.
    this.#age.addEventListener("pointerenter", () => {
      const sample = this.#shown?.sample;
      setTitle(this.#age, sample ? moment(sample.received_ms) : "");
    });
  }

  get record(): ParameterRecord | null {
    return this.#shown?.record ?? null;
  }

  /** Whether a click there marks the parameter instead of opening it. */
  isStar(target: EventTarget | null): boolean {
    return target === this.#star;
  }

  /** How wide the name's column is, in pixels; 0 while it is not laid out. */
  get nameWidth(): number {
    return this.#name.clientWidth;
  }

  get nameFont(): string {
    return getComputedStyle(this.#name).font;
  }

  render(shown: ShownRow): void {
    this.#shown = shown;
    const { record, row, is_active, is_open } = shown;
    this.#renderName(shown);
    this.#renderSample(shown);
    setText(this.#unit, legible(record.definition.unit ?? ""));
    setText(this.#rate, rateText(record.definition.rate_hz, record.measured_hz));
    setTitle(this.#rate, record.measured_hz === null ? "declared" : "measured");
    this.#spark.render(shown.line, shown.at_ms);
    this.root.id = `parameter-row-${row}`;
    this.root.ariaRowIndex = String(row + 2);
    this.root.ariaBusy = "false";
    this.root.ariaSelected = String(is_open);
    setData(this.root, "active", is_active ? "yes" : "no");
  }

  /** A row that the broker has not sent yet. */
  renderNothing(row: number, is_active: boolean): void {
    this.#shown = null;
    delete this.root.dataset["parameter"];
    this.root.id = `parameter-row-${row}`;
    this.root.ariaRowIndex = String(row + 2);
    this.root.ariaBusy = "true";
    for (const one of [this.#name, this.#value, this.#unit, this.#age, this.#rate, this.#state]) {
      setText(one, one === this.#name ? "…" : "");
      setTitle(one, "");
    }
    this.#name.ariaLabel = "not here yet";
    this.#star.hidden = true;
    this.#spark.clear();
    setData(this.root, "severity", "good");
    setData(this.root, "active", is_active ? "yes" : "no");
  }

  #renderName({ record, name, is_favourite }: ShownRow): void {
    const { definition } = record;
    setData(this.root, "parameter", definition.name);
    setText(this.#name, name);
    const whole = legible(definition.name);
    this.#name.ariaLabel = whole;
    setTitle(this.#name, definition.description === null ? whole : `${whole}\n${legible(definition.description)}`);
    this.#star.hidden = false;
    setText(this.#star, is_favourite ? "★" : "☆");
    this.#star.ariaPressed = String(is_favourite);
    this.#star.ariaLabel = `Favourite: ${whole}`;
  }

  #renderSample({ record: { definition }, sample, at_ms }: ShownRow): void {
    setText(this.#value, sample ? valueText(definition.type, sample.value, definition.range) : UNKNOWN);
    setTitle(this.#value, sample ? exactText(sample.value) : "");
    setText(this.#age, sample ? age(at_ms - sample.received_ms) : UNKNOWN);
    const { severity, text } = condition(definition, sample, at_ms);
    setData(this.root, "severity", severity);
    setText(this.#state, text);
    setTitle(this.#state, text);
  }
}
