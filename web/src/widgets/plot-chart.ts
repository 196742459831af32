// The picture of a plot: axes and grid by uPlot, limit bands and lines by this file, straight from the arrays of the store.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { drawEnvelope, drawSamples, type LineScale } from "../model/envelope.ts";
import { countValue } from "../model/frame-counter.ts";
import { DAY, timeLabels, timeMarks, timeText } from "../model/time-axis.ts";
import type { ShownWindow, TimeMode } from "../model/time-control.ts";
import { AXES_MAX, limitBands, markText, valueMarks } from "../model/value-scale.ts";
import { legible } from "../model/wording.ts";
import { beginOf, gapOf, isStepped, type PlotAxis, type PlotLine, plotAxes, rangeOf } from "./plot-lines.ts";
import type { WidgetContext } from "./widget.ts";

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const AXIS_WIDTH = 58;
const TIME_HEIGHT = 34;
const WIDTH_MIN = 120;
/** More of a plot is not given to axes of values: those further out are left out, their units stand beside the lines. */
const AXES_SHARE = 0.4;
const HEIGHT_MIN = 80;
const MARK_WIDTH = 92;
/** Half of a time below the right end of the lines. */
const EDGE_WIDTH = 20;
const MARK_HEIGHT = 26;
const LINE_WIDTH = 1.4;
const DOT_RADIUS = 2.4;
/** uPlot asks for data; the lines are drawn without it. */
const EVER = [-8.64e15, 8.64e15];

export class PlotChart {
  readonly #host: HTMLElement;
  readonly #context: WidgetContext;
  readonly #lines: readonly PlotLine[];
  readonly #axes: readonly PlotAxis[];
  readonly #axesMost: number;
  readonly #plot: uPlot;
  readonly #colours: CSSStyleDeclaration;
  #window: ShownWindow = { from_ms: 0, to_ms: 1 };
  #mode: TimeMode = "live";
  #ranges: [number, number][] = [];
  /** How many columns of the screen have a value, all lines together. */
  columns = 0;
  /** Which part of it, from the left, is of a time of which nothing is kept. */
  empty = 0;

  constructor(host: HTMLElement, lines: readonly PlotLine[], context: WidgetContext) {
    this.#host = host;
    this.#context = context;
    this.#lines = lines;
    this.#axes = plotAxes(lines);
    this.#axesMost = axesThatFit(host.clientWidth);
    this.#colours = getComputedStyle(host);
    const nothing = lines.map(() => [null, null]);
    this.#plot = new uPlot(this.#options(), [EVER, ...nothing], host);
  }

  /** The element over the lines: pointers and cursors are its business. */
  get over(): HTMLElement {
    return this.#plot.over;
  }

  get canvas(): HTMLCanvasElement {
    return this.#plot.ctx.canvas;
  }

  /** The width of the lines' area in CSS pixels. */
  get width(): number {
    return this.#plot.over.clientWidth;
  }

  /** The ranges of the axes that were drawn last. */
  get ranges(): readonly (readonly [number, number])[] {
    return this.#ranges;
  }

  draw(window: ShownWindow, mode: TimeMode): void {
    this.#window = window;
    this.#mode = mode;
    this.#ranges = this.#axes.map((_, axis) => rangeOf(axis, this.#lines, this.#context, window));
    this.#plot.batch(() => {
      this.#plot.setScale("x", { min: window.from_ms, max: window.to_ms });
      this.#ranges.forEach(([min, max], axis) => this.#plot.setScale(scaleName(axis), { min, max }));
      this.#plot.redraw(false, true);
    });
  }

  /** False if there is room for more or fewer axes than it has: then it has to be made anew. */
  resize(): boolean {
    if (axesThatFit(this.#host.clientWidth) !== this.#axesMost) return false;
    this.#plot.setSize(this.#size());
    return true;
  }

  close(): void {
    this.#plot.destroy();
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(WIDTH_MIN, this.#host.clientWidth), height: Math.max(HEIGHT_MIN, this.#host.clientHeight) };
  }

  #options(): uPlot.Options {
    const scales: Record<string, uPlot.Scale> = { x: { time: false, auto: false } };
    this.#axes.forEach((_, axis) => (scales[scaleName(axis)] = { auto: false, range: (_plot, low, high) => [low ?? 0, high ?? 1] }));
    return {
      ...this.#size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [8, this.#axes.length > 1 ? 0 : EDGE_WIDTH, 0, 0],
      scales,
      axes: [this.#timeAxis(), ...this.#axes.map((axis, at) => this.#valueAxis(axis, at))],
      series: [{}, ...this.#lines.map(({ axis }) => ({ scale: scaleName(axis), paths: () => null, points: { show: false } }))],
      hooks: { drawClear: [() => this.#drawGround()], draw: [() => this.#drawLines()] },
    };
  }

  #timeAxis(): uPlot.Axis {
    return {
      font: FONT,
      size: TIME_HEIGHT,
      lineGap: 1.15,
      stroke: () => this.#colour("--text-quiet"),
      grid: { stroke: () => this.#colour("--grid"), width: 1 },
      ticks: { stroke: () => this.#colour("--grid"), width: 1, size: 4 },
      splits: (plot, _axis, min, max) => timeMarks(min, max, plot.over.clientWidth / MARK_WIDTH || 4).at_ms,
      values: (plot) => timeLabels(timeMarks(this.#window.from_ms, this.#window.to_ms, plot.over.clientWidth / MARK_WIDTH || 4)),
      incrs: oneIncrement,
    };
  }

  #valueAxis({ unit, side }: PlotAxis, at: number): uPlot.Axis {
    return {
      show: at < this.#axesMost,
      scale: scaleName(at),
      side: side === "left" ? 3 : 1,
      font: FONT,
      size: AXIS_WIDTH,
      gap: 4,
      label: legible(unit),
      labelFont: FONT,
      labelSize: 16,
      labelGap: 0,
      stroke: () => this.#axisColour(at),
      grid: { show: at === 0, stroke: () => this.#colour("--grid"), width: 1 },
      ticks: { stroke: () => this.#colour("--grid"), width: 1, size: 4 },
      splits: (plot, _axis, min, max) => valueMarks(min, max, Math.max(2, plot.over.clientHeight / MARK_HEIGHT || 4)),
      values: (_plot, splits) => splits.map((value) => markText(value, (splits[1] ?? 1) - (splits[0] ?? 0))),
      incrs: oneIncrement,
    };
  }

  /** An axis with one line has its colour, where there are others to tell it from. */
  #axisColour(axis: number): string {
    const own = this.#lines.filter((line) => line.axis === axis);
    return this.#colour(own.length === 1 && this.#axes.length > 1 ? `--plot-${own[0]!.colour}` : "--text-quiet");
  }

  #colour(name: string): string {
    return this.#colours.getPropertyValue(name);
  }

  /** Under the grid: the tint of what is not live, what nothing is kept of, and where each axis's first line exceeds its limits. */
  #drawGround(): void {
    const { ctx, bbox } = this.#plot;
    ctx.save();
    if (this.#mode !== "live") {
      ctx.fillStyle = this.#colour(this.#mode === "paused" ? "--paused-ground" : "--replay-ground");
      ctx.fillRect(bbox.left, bbox.top, bbox.width, bbox.height);
    }
    this.#axes.forEach((_, axis) => {
      const line = this.#lines.find((one) => one.axis === axis && one.definition?.limits);
      if (line) this.#drawBands(line);
    });
    this.#drawBefore();
    ctx.restore();
  }

  /** A plot that is empty at its left says why: the broker keeps nothing of that time. */
  #drawBefore(): void {
    const { ctx, bbox } = this.#plot;
    const { from_ms, to_ms } = this.#window;
    const slices = this.#lines.map(({ name }) => this.#context.series.slice(name));
    const begin_ms = beginOf(slices, this.#context.series.oldest_ms);
    this.empty = begin_ms === null ? 0 : Math.min(1, Math.max(0, (begin_ms - from_ms) / (to_ms - from_ms)));
    if (begin_ms === null || this.empty === 0) return;
    const width = bbox.width * this.empty;
    ctx.fillStyle = this.#colour("--before-ground");
    ctx.fillRect(bbox.left, bbox.top, width, bbox.height);
    ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`;
    ctx.fillStyle = this.#colour("--text-quiet");
    const at = timeText(begin_ms, to_ms - from_ms).slice(0, 19);
    const text = begin_ms >= to_ms ? "nothing is kept of this time" : `nothing before ${to_ms - from_ms < DAY ? at.slice(11) : at}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "alphabetic";
    if (ctx.measureText(text).width + 8 < width) ctx.fillText(text, bbox.left + width / 2, bbox.top + 14 * uPlot.pxRatio);
  }

  #drawBands({ definition, axis }: PlotLine): void {
    const { ctx, bbox } = this.#plot;
    const [low, high] = this.#ranges[axis] ?? [0, 1];
    const y = (value: number) => bbox.top + bbox.height * (1 - (Math.min(Math.max(value, low), high) - low) / (high - low));
    for (const { level, from, to, edge } of limitBands(definition?.limits ?? null)) {
      const top = y(to);
      const bottom = y(from);
      if (bottom - top < 0.5) continue;
      ctx.fillStyle = this.#colour(`--band-${level}`);
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
      ctx.fillStyle = this.#colour(level === "critical" ? "--fault" : "--warning");
      if (edge > low && edge < high) ctx.fillRect(bbox.left, Math.round(y(edge)) - 0.5, bbox.width, 1);
    }
  }

  #drawLines(): void {
    const { ctx, bbox } = this.#plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = LINE_WIDTH * uPlot.pxRatio;
    ctx.lineJoin = "bevel";
    this.columns = 0;
    for (const line of this.#lines) {
      ctx.strokeStyle = this.#colour(`--plot-${line.colour}`);
      ctx.beginPath();
      const slice = this.#context.series.slice(line.name);
      this.columns += drawEnvelope(ctx, slice, this.#scaleOf(line));
      ctx.stroke();
      ctx.fillStyle = ctx.strokeStyle;
      ctx.beginPath();
      drawSamples(slice, this.#scaleOf(line), (x, y) => {
        ctx.moveTo(x, y);
        ctx.arc(x, y, DOT_RADIUS * uPlot.pxRatio, 0, 2 * Math.PI);
      });
      ctx.fill();
    }
    ctx.restore();
    if (this.columns > 0) countValue();
  }

  #scaleOf(line: PlotLine): LineScale {
    const { left, top, width, height } = this.#plot.bbox;
    const [low, high] = this.#ranges[line.axis] ?? [0, 1];
    const gap_ms = gapOf(line, this.#context.series.slice(line.name));
    return { ...this.#window, left, top, width, height, low, high, gap_ms, isStepped: isStepped(line) };
  }
}

/** uPlot hides an axis for which it finds no increment; marks are chosen by `splits`. It knows the digits of those from 5 on. */
function oneIncrement(_plot: uPlot, _axis: number, min: number, max: number): number[] {
  return [Math.max(5, max - min)];
}

function axesThatFit(width: number): number {
  return Math.min(AXES_MAX, Math.max(1, Math.floor((width * AXES_SHARE) / AXIS_WIDTH)));
}

function scaleName(axis: number): string {
  return `y${axis}`;
}
