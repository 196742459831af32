// A plot of parameters over time: several axes, limits, cursors, and what a person does with it. Its picture is plot-chart.ts.
import { legible } from "../model/wording.ts";
import { spanText } from "../model/time-axis.ts";
import { element, setData, setText } from "../views/page.ts";
import { PlotChart } from "./plot-chart.ts";
import { PlotCursors } from "./plot-cursors.ts";
import { saveCsv, savePng } from "./plot-export.ts";
import { PlotGestures } from "./plot-gestures.ts";
import { PlotLegend } from "./plot-legend.ts";
import { type PlotLine, plotLines, silenceBefore } from "./plot-lines.ts";
import { ParameterPicker } from "./parameter-picker.ts";
import type { Widget, WidgetContext, WidgetSpec } from "./widget.ts";

/** Lines of one plot. */
export const LINES_MAX = 16;
const NAME_MAX = 65_535;
const RATIO_MAX = 2;
const WIDTH_AT_FIRST = 600;
const THEME = matchMedia("(prefers-color-scheme: dark)");

export class PlotWidget implements Widget {
  readonly element = element("section", "plot-widget");
  readonly #context: WidgetContext;
  readonly #title: string;
  readonly #heading = element("h3", "plot-title");
  readonly #said = element("p", "plot-said");
  readonly #host = element("div", "plot-host");
  readonly #legend: PlotLegend;
  readonly #picker: ParameterPicker;
  readonly #themeChanged = () => this.#rebuild();
  /** A legend that grows leaves the picture less room. */
  readonly #sized = new ResizeObserver(() => this.#fit());
  #names: readonly string[];
  #lines: readonly PlotLine[] = [];
  #shape = "";
  /** The picture was made before the legend had its values, which may take more room. */
  #isBeforeLegend = false;
  #chart: PlotChart | null = null;
  #gestures: PlotGestures | null = null;
  #cursors: PlotCursors | null = null;

  constructor(spec: WidgetSpec, context: WidgetContext) {
    this.#context = context;
    this.#title = spec.title;
    this.#names = namesOf(spec.options["names"]);
    this.#legend = new PlotLegend(context, (name) => this.#show(this.#names.filter((one) => one !== name)));
    this.#picker = new ParameterPicker(context.definitions, (name) => this.#show([...this.#names, name]));
    this.#host.tabIndex = 0;
    this.#host.role = "img";
    this.#said.role = "status";
    this.element.dataset["plot"] = "";
    this.element.append(this.#head(), this.#legend.element, this.#host);
    this.#rename();
    THEME.addEventListener("change", this.#themeChanged);
    this.#sized.observe(this.#host);
  }

  names(): readonly string[] {
    return this.#names;
  }

  spec(): WidgetSpec {
    return { kind: "plot", title: this.#title, options: { names: this.#names } };
  }

  /** Columns that its screen has. */
  get columns(): number {
    return Math.round((this.#chart?.width || WIDTH_AT_FIRST) * Math.min(RATIO_MAX, window.devicePixelRatio));
  }

  render(now_ms: number): void {
    const { time, series } = this.#context;
    this.#arrange();
    const mode = time.mode;
    setData(this.element, "time", mode);
    this.#gestures?.follow();
    this.#chart?.draw(time.window(now_ms), mode);
    const spans = this.#spans();
    this.#legend.render(now_ms, spans);
    if (this.#isBeforeLegend) {
      this.#isBeforeLegend = false;
      this.#fit();
    }
    this.#cursors?.render(time.window(now_ms), this.#context.cursors);
    setData(this.element, "columns", String(this.#chart?.columns ?? 0));
    setData(this.element, "begin", this.#chart?.empty ? this.#chart.empty.toFixed(2) : "");
    setData(this.element, "step", String(Math.max(0, ...this.#names.map((name) => series.slice(name).step_ms))));
    setText(this.#said, this.#sentence(series.trouble));
  }

  resize(): void {
    // The room of the picture is watched by itself.
  }

  destroy(): void {
    THEME.removeEventListener("change", this.#themeChanged);
    this.#chart?.close();
    this.#chart = null;
    this.#legend.close();
    this.#sized.disconnect();
    this.element.remove();
  }

  #spans(): number[] {
    return this.#chart?.ranges.map(([low, high]) => high - low) ?? [];
  }

  /** What a person must know who sees no line, or not all of it. */
  #sentence(trouble: string | null): string {
    if (this.#names.length === 0) return "Add a parameter to draw it.";
    if (trouble !== null) return trouble;
    const states = this.#names.map((name) => this.#context.series.state(name));
    if (states.some(({ is_cut }) => is_cut)) return "Too much to read at once: a part is missing. Zoom in.";
    const slices = this.#names.map((name) => this.#context.series.slice(name));
    const isEmpty = slices.every(({ length }) => length === 0);
    const before_ms = silenceBefore(slices, this.#context.time.window(this.#context.now() ?? 0));
    if (before_ms !== null) return `No samples in this time; the newest is ${spanText(before_ms)} before it.`;
    if (!isEmpty) return this.#lines.every(({ definition }) => definition && isWord(definition.type)) ? "Texts have no line: see the value." : "";
    return states.every(({ is_known }) => is_known) ? "No samples in this time." : "Reading …";
  }

  /** Builds the picture anew when lines, units or definitions are others. */
  #arrange(): void {
    const lines = plotLines(this.#names, this.#context);
    const shape = JSON.stringify(lines.map(({ name, unit, axis, definition }) => [name, unit, axis, definition !== null]));
    if (shape === this.#shape && this.#chart) return;
    this.#shape = shape;
    this.#lines = lines;
    this.#legend.show(lines);
    this.#rebuild();
  }

  #fit(): void {
    if (this.#chart?.resize() === false) this.#rebuild();
  }

  #rebuild(): void {
    this.#chart?.close();
    this.#chart = new PlotChart(this.#host, this.#lines, this.#context);
    this.#gestures = new PlotGestures(this.#chart.over, this.#context);
    this.#cursors = new PlotCursors(this.#chart.over);
    this.#isBeforeLegend = true;
    this.#context.requestRender();
  }

  #show(names: readonly string[]): void {
    this.#names = [...new Set(names)].slice(0, LINES_MAX);
    this.#rename();
    this.#context.changed(this);
    this.#context.requestRender();
  }

  #rename(): void {
    const title = this.#title || this.#names.map((name) => name.split("/").at(-1)).join(", ") || "Plot";
    setText(this.#heading, legible(title));
    this.element.ariaLabel = legible(title);
    this.#host.ariaLabel = `${legible(title)} over time. Drag moves the time, the wheel zooms, a click places a cursor; ? shows all keys.`;
  }

  #head(): HTMLElement {
    const head = element("div", "plot-head");
    head.append(this.#heading, this.#said, this.#picker.button, this.#deed("PNG", "Save as a picture", () => this.#savePng()));
    head.append(this.#deed("CSV", "Save what is drawn as a table", () => saveCsv(this.#exported(), this.#context)), this.#picker.panel);
    return head;
  }

  #deed(text: string, title: string, act: () => void): HTMLButtonElement {
    const made = element("button", "plot-deed", text);
    made.type = "button";
    made.title = title;
    made.addEventListener("click", act);
    return made;
  }

  #savePng(): void {
    if (this.#chart) savePng(this.#exported(), this.#chart.canvas, this.#host, this.#context);
  }

  #exported() {
    const window = this.#context.time.window(this.#context.now() ?? 0);
    return { title: this.#heading.textContent ?? "", lines: this.#lines, window };
  }
}

function isWord(type: string): boolean {
  return type === "text" || type === "bytes" || type === "enum";
}

/** Options come from saved layouts and addresses: only texts count, each once. */
function namesOf(option: unknown): readonly string[] {
  if (!Array.isArray(option)) return [];
  const names = option.filter((name): name is string => typeof name === "string" && name.length > 0 && name.length <= NAME_MAX);
  return [...new Set(names)].slice(0, LINES_MAX);
}
