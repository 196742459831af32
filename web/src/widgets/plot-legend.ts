// The table beside a plot: what each line is, and its values at the pointer and at the cursors. Never draws lines.
import { legendNames } from "../model/legend-names.ts";
import { valueText } from "../model/parameter-value.ts";
import { figure } from "../model/value-scale.ts";
import { legible } from "../model/wording.ts";
import { isoTimeNs } from "../model/series-csv.ts";
import { spanText, timeText } from "../model/time-axis.ts";
import { element, setText, setTitle } from "../views/page.ts";
import type { PlotLine } from "./plot-lines.ts";
import type { WidgetContext } from "./widget.ts";

interface LegendRow {
  readonly line: PlotLine;
  readonly name: HTMLElement;
  readonly value: HTMLElement;
  readonly a: HTMLElement;
  readonly b: HTMLElement;
  readonly difference: HTMLElement;
}

/** A description with a formula says how the parameter is calculated. */
const FORMULA = /\s=\s/;

export class PlotLegend {
  readonly element = element("div", "plot-legend");
  readonly #context: WidgetContext;
  readonly #remove: (name: string) => void;
  readonly #head = element("div", "plot-legend-head");
  readonly #at = element("span", "plot-at");
  readonly #a = element("span");
  readonly #b = element("span");
  readonly #difference = element("span");
  readonly #sized = new ResizeObserver(() => this.#fit());
  #rows: LegendRow[] = [];
  #room = 0;

  constructor(context: WidgetContext, remove: (name: string) => void) {
    this.#context = context;
    this.#remove = remove;
    this.#head.append(this.#at, this.#a, this.#b, this.#difference);
  }

  show(lines: readonly PlotLine[]): void {
    this.#rows = [];
    this.#room = 0;
    this.#sized.disconnect();
    const rows = lines.map((line) => this.#row(line));
    this.element.replaceChildren(this.#head, ...rows);
    for (const { name } of this.#rows) this.#sized.observe(name);
  }

  close(): void {
    this.#sized.disconnect();
  }

  /** Names get as many characters as the narrowest of them has room for. */
  #fit(): void {
    const width = Math.min(...this.#rows.map(({ name }) => name.clientWidth));
    const room = Math.floor(width / characterWidth());
    if (room === this.#room || !(width > 0) || !Number.isFinite(room)) return;
    this.#room = room;
    const texts = legendNames(this.#rows.map(({ line }) => legible(line.name)), room);
    this.#rows.forEach(({ name }, at) => writeName(name, texts[at] ?? ""));
  }

  /** `spans`: the length of each axis, from which the digits at the cursors follow. */
  render(now_ms: number, spans: readonly number[]): void {
    const { cursors, time, series } = this.#context;
    const window = time.window(now_ms);
    const isMarked = cursors.a_ms !== null;
    const seen = (moment_ms: number | null) => (moment_ms !== null && moment_ms >= window.from_ms && moment_ms <= window.to_ms ? moment_ms : null);
    const hover_ms = seen(cursors.hover_ms);
    this.element.classList.toggle("is-marked", isMarked);
    const at_ms = hover_ms ?? window.to_ms;
    setText(this.#at, hover_ms === null ? "" : timeText(at_ms, window.to_ms - window.from_ms));
    this.#renderCursors(window.to_ms - window.from_ms);
    for (const row of this.#rows) {
      const span = spans[row.line.axis] ?? 1;
      const shown = (moment_ms: number | null) => (moment_ms === null ? Number.NaN : series.valueAt(row.line.name, moment_ms));
      setText(row.value, shownValue(this.#context, row.line, at_ms));
      const exact_ns = series.exactAt(row.line.name, at_ms);
      setTitle(row.value, exact_ns === null ? "" : `measured ${isoTimeNs(exact_ns)}`);
      const a = shown(seen(cursors.a_ms));
      const b = shown(seen(cursors.b_ms));
      setText(row.a, isMarked ? figure(a, span) : "");
      setText(row.b, isMarked ? figure(b, span) : "");
      setText(row.difference, isMarked ? signed(b - a, span) : "");
    }
  }

  #renderCursors(span_ms: number): void {
    const { a_ms, b_ms } = this.#context.cursors;
    this.#mark(this.#a, "A", a_ms, span_ms);
    this.#mark(this.#b, "B", b_ms, span_ms);
    setText(this.#difference, a_ms !== null && b_ms !== null ? `Δ ${spanText(b_ms - a_ms)}` : a_ms === null ? "" : "Δ");
  }

  #mark(node: HTMLElement, name: string, at_ms: number | null, span_ms: number): void {
    setText(node, at_ms === null ? (this.#context.cursors.a_ms === null ? "" : name) : `${name} ${timeText(at_ms, span_ms).slice(11)}`);
    setTitle(node, at_ms === null ? "" : `${timeText(at_ms, 0)} UTC`);
  }

  #row(line: PlotLine): HTMLElement {
    const { name, definition, unit, colour } = line;
    const row = element("div", "plot-legend-row");
    row.dataset["series"] = name;
    const swatch = element("span", "plot-swatch");
    swatch.dataset["colour"] = String(colour);
    const shown = element("span", "plot-name");
    writeName(shown, legible(name));
    const description = definition?.description ?? null;
    shown.title = legible(description === null ? name : `${name}: ${description}`);
    const value = this.#cell("plot-value", "value");
    const made = { line, name: shown, value, a: this.#cell("plot-mark", "a"), b: this.#cell("plot-mark", "b"), difference: this.#cell("plot-mark", "difference") };
    const remove = element("button", "plot-remove", "×");
    remove.type = "button";
    remove.ariaLabel = `Remove ${legible(name)} from the plot`;
    remove.title = "Remove from the plot";
    remove.addEventListener("click", () => this.#remove(name));
    row.append(swatch, shown, value, element("span", "plot-unit", legible(unit)), made.a, made.b, made.difference, remove);
    if (description !== null && FORMULA.test(description)) row.append(element("p", "plot-formula", legible(description)));
    this.#rows.push(made);
    return row;
  }

  #cell(className: string, field: string): HTMLElement {
    const made = element("span", className);
    made.dataset["field"] = field;
    return made;
  }
}

/** Text for what is no number; a number as the table has it. */
export function shownValue({ series }: WidgetContext, { name, definition }: PlotLine, at_ms: number): string {
  const value = series.valueAt(name, at_ms);
  if (Number.isFinite(value)) return valueText(definition?.type ?? "f64", value, definition?.range ?? null);
  const text = Number.isNaN(value) ? series.textAt(name, at_ms) : null;
  return text === null ? figure(value, 0) : legible(text.slice(0, 80));
}

/** The last two levels stand out; what is before them, or the mark of what is left out, is quiet. */
function writeName(node: HTMLElement, text: string): void {
  const levels = text.split("/");
  const quiet = levels[0] === "…" ? Math.max(1, levels.length - 2) : levels.length - 2;
  const head = levels.slice(0, Math.max(0, quiet)).map((level) => `${level}/`).join("");
  node.replaceChildren(...(head ? [element("span", "plot-name-head", head)] : []), element("bdi", "plot-name-tail", text.slice(head.length)));
}

/** Legends are in this font (plots.css); letters and digits as they are in names. */
const NAME_FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LETTERS = "abcdefghijklmnopqrstuvwxyz_/0123456789";
let width = 0;

function characterWidth(): number {
  if (width > 0) return width;
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return 8;
  pen.font = NAME_FONT;
  width = pen.measureText(LETTERS).width / LETTERS.length;
  return width;
}

function signed(difference: number, span: number): string {
  return difference > 0 ? `+${figure(difference, span)}` : figure(difference, span);
}
