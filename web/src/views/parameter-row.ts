// One row of the parameters. Rows are few and are given another parameter as the table scrolls.
import type { ParameterRecord } from "../model/parameter-store.ts";
import { valueText } from "../model/parameter-value.ts";
import { condition } from "../model/parameter-wording.ts";
import { age, legible, moment, UNKNOWN } from "../model/wording.ts";
import { element, setData, setText, setTitle } from "./page.ts";
import { cell } from "./rows-panel.ts";
import { SparklineView } from "./sparkline-view.ts";

export class ParameterRow {
  readonly root = element("div", "value-row parameter-row");
  readonly #name = cell("topic");
  readonly #value = cell("value");
  readonly #unit = cell("unit");
  readonly #age = cell("age");
  readonly #state = cell("state");
  readonly #spark = new SparklineView();
  #record: ParameterRecord | null = null;

  constructor() {
    this.root.role = "row";
    const line = cell("spark");
    line.append(this.#spark.root);
    this.root.append(this.#name, this.#value, this.#unit, this.#age, this.#state, line);
    // A time is costly to write out, and few are ever pointed at.
    this.#age.addEventListener("pointerenter", () => {
      setTitle(this.#age, this.#record?.newest ? moment(this.#record.newest.received_ms) : "");
    });
  }

  get record(): ParameterRecord | null {
    return this.#record;
  }

  render(record: ParameterRecord, index: number, active: boolean, now_ms: number): void {
    this.#record = record;
    this.#renderDefinition(record);
    this.#renderSample(record, now_ms);
    this.#spark.render(record.history.series(), now_ms);
    this.root.id = `parameter-row-${index}`;
    this.root.ariaRowIndex = String(index + 2);
    setData(this.root, "active", active ? "yes" : "no");
  }

  #renderDefinition({ definition }: ParameterRecord): void {
    setData(this.root, "parameter", definition.name);
    setText(this.#name, legible(definition.name));
    setTitle(this.#name, legible(definition.description ?? definition.name));
    setText(this.#unit, legible(definition.unit ?? ""));
  }

  #renderSample({ definition, newest }: ParameterRecord, now_ms: number): void {
    setText(this.#value, newest ? valueText(definition.type, newest.value) : UNKNOWN);
    setTitle(this.#value, newest ? legible(String(newest.value)) : "");
    setText(this.#age, newest ? age(now_ms - newest.received_ms) : UNKNOWN);
    const { severity, text } = condition(definition, newest, now_ms);
    setData(this.root, "severity", severity);
    setText(this.#state, text);
    setTitle(this.#state, text);
  }
}
