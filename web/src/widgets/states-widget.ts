// States over time: a row for each Boolean, enumeration or text, a bar for each stretch with its label. Legible at any zoom.
import { labels } from "../model/relative-names.ts";
import { gapAfter } from "../model/gap-rule.ts";
import { stateColour, type StateRun, stateRuns } from "../model/state-runs.ts";
import { timeLabels, timeMarks, timeText } from "../model/time-axis.ts";
import type { ShownWindow } from "../model/time-control.ts";
import { legible } from "../model/wording.ts";
import { element, setData, setText, setTitle } from "../views/page.ts";
import { CanvasSurface } from "./canvas-surface.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf, type WidgetReading } from "./widget-reading.ts";

const NAMES_MAX = 24;
const ROW = 24;
const BAR = 18;
const AXIS = 32;
const MARK_WIDTH = 92;
const COLOURS = 8;
/** Shorter bars are drawn together, hatched. */
const BAR_WIDTH_MIN = 3;
/** A shorter silence is not worth a gap. */
const GAP_MS_MIN = 1_500;
const PIXELS_OF_A_CHARACTER = 7.2;

interface StateRow {
  readonly root: HTMLElement;
  readonly label: HTMLElement;
  readonly now: HTMLElement;
}

export class StatesWidget extends Instrument {
  readonly #rows: StateRow[];
  readonly #names = element("div", "state-names");
  readonly #plate = element("div", "state-plate");
  readonly #surface: CanvasSurface;
  #runs: StateRun[][] = [];
  #window: ShownWindow = { from_ms: 0, to_ms: 1 };

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    this.#rows = this.names().map(row);
    this.#names.append(...this.#rows.map(({ root }) => root));
    this.#surface = new CanvasSurface(this.#plate);
    this.#surface.canvas.role = "img";
    this.#surface.canvas.addEventListener("pointermove", (event) => this.#point(event));
    const scroll = element("div", "instrument-scroll states-scroll");
    scroll.tabIndex = 0;
    scroll.role = "group";
    scroll.ariaLabel = "States over time";
    scroll.append(this.#names, this.#plate);
    this.element.append(scroll);
    this.resize();
  }

  override get columns(): number {
    return Math.max(64, Math.min(1_000, this.#surface.width));
  }

  override resize(): void {
    const room = Math.max(12, (this.#names.clientWidth * 0.55) / PIXELS_OF_A_CHARACTER);
    const texts = labels(this.names(), room);
    this.#rows.forEach(({ label }, at) => setText(label, texts[at] ?? ""));
  }

  protected draw(shown_ms: number, now_ms: number): void {
    this.#window = this.context.time.window(now_ms);
    const readings = this.names().map((name) => readingOf(name, this.context, shown_ms));
    readings.forEach((reading, at) => this.#tell(reading, this.#rows[at]!));
    const height = this.names().length * ROW + AXIS;
    const ctx = this.#surface.begin(height);
    if (!ctx) return;
    const width = this.#surface.width;
    const { from_ms, to_ms } = this.#window;
    const least_ms = ((to_ms - from_ms) / width) * BAR_WIDTH_MIN;
    this.#axis(ctx, width, height);
    this.#runs = readings.map((reading) => this.#runsOf(reading, least_ms));
    this.#runs.forEach((runs, at) => this.#bars(ctx, runs, readings[at]!, at * ROW + (ROW - BAR) / 2, width));
  }

  #tell(reading: WidgetReading, { root, now }: StateRow): void {
    setData(root, "severity", reading.severity);
    setText(now, reading.severity === "stale" ? `${reading.text} (stale)` : reading.text);
    setTitle(root, [legible(reading.name), reading.why].filter(Boolean).join("\n"));
  }

  #runsOf({ name, definition }: WidgetReading, least_ms: number): StateRun[] {
    const slice = this.context.series.slice(name);
    const isBool = (definition?.type ?? this.context.series.state(name).type) === "bool";
    const stateAt = (at: number) => {
      const text = slice.texts[at];
      if (text !== undefined) return text;
      const value = slice.last[at]!;
      return Number.isNaN(value) ? null : isBool ? (value !== 0 ? "on" : "off") : String(value);
    };
    const isMixed = (at: number) => slice.texts[at] === undefined && slice.min[at]! < slice.max[at]!;
    const { from_ms, to_ms } = this.#window;
    const rate_hz = definition?.rate_hz ?? null;
    const gap_ms = rate_hz === null ? Number.POSITIVE_INFINITY : Math.max(GAP_MS_MIN, gapAfter(slice.step_ms, rate_hz, 0));
    return stateRuns({ times: slice.times, length: slice.length, stateAt, isMixed, gap_ms }, from_ms, to_ms, least_ms);
  }

  #bars(ctx: CanvasRenderingContext2D, runs: readonly StateRun[], reading: WidgetReading, top: number, width: number): void {
    const { from_ms, to_ms } = this.#window;
    const x = (at_ms: number) => ((at_ms - from_ms) / (to_ms - from_ms)) * width;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const { from_ms: begin, to_ms: end, state } of runs) {
      const [left, right] = [x(begin), x(end)];
      ctx.globalAlpha = reading.severity === "stale" ? 0.45 : 1;
      if (state === null) this.#hatched(ctx, left, top, right - left);
      else this.#bar(ctx, state, left, top, right - left);
    }
    ctx.globalAlpha = 1;
  }

  /** Off is quiet; every other state has the colour of its name, and its label where that fits. */
  #bar(ctx: CanvasRenderingContext2D, state: string, left: number, top: number, width: number): void {
    const isOff = state === "off";
    ctx.fillStyle = this.#surface.colour(isOff ? "--grid" : state === "on" ? "--plot-1" : `--plot-${stateColour(state, COLOURS) + 1}`);
    const before = ctx.globalAlpha;
    ctx.globalAlpha = before * (isOff ? 1 : 0.34);
    ctx.fillRect(left, top, Math.max(1, width - 1), BAR);
    ctx.globalAlpha = before;
    if (!isOff) ctx.fillRect(left, top, Math.min(2, width), BAR);
    ctx.fillStyle = this.#surface.colour(isOff ? "--text-quiet" : "--text");
    const label = fitted(ctx, legible(state), width - 10);
    if (label) ctx.fillText(label, left + 6, top + BAR / 2 + 0.5);
  }

  #hatched(ctx: CanvasRenderingContext2D, left: number, top: number, width: number): void {
    ctx.fillStyle = this.#surface.colour("--text-quiet");
    for (let at = left; at < left + Math.max(1, width); at += 3) ctx.fillRect(at, top, 1, BAR);
  }

  #axis(ctx: CanvasRenderingContext2D, width: number, height: number): void {
    const { from_ms, to_ms } = this.#window;
    const marks = timeMarks(from_ms, to_ms, Math.max(1, width / MARK_WIDTH));
    const labels = timeLabels(marks);
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    marks.at_ms.forEach((at_ms, at) => {
      const x = Math.round(((at_ms - from_ms) / (to_ms - from_ms)) * width) + 0.5;
      ctx.fillStyle = this.#surface.colour("--grid");
      ctx.fillRect(x, 0, 1, height - AXIS + 4);
      ctx.fillStyle = this.#surface.colour("--text-quiet");
      (labels[at] ?? "").split("\n").forEach((text, row) => ctx.fillText(text, Math.min(Math.max(x, MARK_WIDTH / 3), width - MARK_WIDTH / 3), height - AXIS + 6 + row * 12));
    });
  }

  /** What was at the place that is pointed at. */
  #point({ offsetX, offsetY }: PointerEvent): void {
    const { from_ms, to_ms } = this.#window;
    const at_ms = from_ms + (offsetX / this.#surface.width) * (to_ms - from_ms);
    const row = Math.floor(offsetY / ROW);
    const run = this.#runs[row]?.find((one) => one.from_ms <= at_ms && at_ms < one.to_ms);
    const name = legible(this.names()[row] ?? "");
    const state = run ? (run.state === null ? "several short states" : legible(run.state)) : "nothing known";
    const span = to_ms - from_ms;
    const since = run ? `\n${timeText(run.from_ms, span)} to ${timeText(run.to_ms, span)}` : "";
    setTitle(this.#surface.canvas, name ? `${name}: ${state}${since}` : "");
  }
}

function row(name: string): StateRow {
  const root = element("div", "state-row");
  root.dataset["parameter"] = name;
  const label = element("span", "state-label");
  const now = element("b", "state-now", "–");
  root.append(label, now);
  return { root, label, now };
}

/** The text, or its beginning with a mark; empty where not even three characters fit. */
function fitted(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  if (room < 14) return "";
  if (ctx.measureText(text).width <= room) return text;
  const characters = [...text];
  let length = Math.min(characters.length, Math.floor((room / ctx.measureText(text).width) * characters.length));
  while (length > 2 && ctx.measureText(`${characters.slice(0, length).join("")}…`).width > room) length -= 1;
  return length > 2 ? `${characters.slice(0, length).join("")}…` : "";
}
