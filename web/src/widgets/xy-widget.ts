// One parameter against another over the shown time: a trail that fades, and its newest point. Reads series, fetches nothing.
import { labels } from "../model/relative-names.ts";
import { markText, valueMarks, valueRange } from "../model/value-scale.ts";
import { legible } from "../model/wording.ts";
import { JoinedPoints, type TimedValues } from "../model/xy-join.ts";
import { element, setData, setText } from "../views/page.ts";
import { CanvasSurface } from "./canvas-surface.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf, type WidgetReading } from "./widget-reading.ts";

const NAMES_MAX = 2;
const COLUMNS = 600;
/** A partner older than this share of the shown time is not the value at that time. */
const APART_SHARE = 0.05;
const APART_MS_MIN = 2_500;
/** The trail is drawn in so many parts, each stronger than the one before. */
const PARTS = 8;
const LEFT = 54;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 34;

type Range = readonly [number, number];

export class XyWidget extends Instrument {
  readonly #surface: CanvasSurface;
  readonly #note = element("p", "why");
  readonly #points = new JoinedPoints();

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    const plate = element("div", "instrument-plate");
    this.#surface = new CanvasSurface(plate);
    this.#surface.canvas.role = "img";
    this.element.append(plate, this.#note);
  }

  override get columns(): number {
    return COLUMNS;
  }

  protected draw(shown_ms: number, now_ms: number): void {
    const [nameX, nameY] = this.names();
    if (nameX === undefined || nameY === undefined) {
      setText(this.#note, "An XY plot needs two parameters: the first goes to the right, the second up.");
      return;
    }
    const readings = [readingOf(nameX, this.context, shown_ms), readingOf(nameY, this.context, shown_ms)] as const;
    this.#tell(readings);
    const { from_ms, to_ms } = this.context.time.window(now_ms);
    const apart_ms = Math.max((to_ms - from_ms) * APART_SHARE, APART_MS_MIN);
    this.#points.join(this.#values(nameX), this.#values(nameY), from_ms, to_ms, apart_ms);
    this.#paint(readings);
  }

  #values(name: string): TimedValues {
    const { times, last, length } = this.context.series.slice(name);
    return { times, values: last, length };
  }

  #tell(readings: readonly [WidgetReading, WidgetReading]): void {
    const worst = readings.find(({ severity }) => severity !== "good");
    setData(this.element, "severity", worst?.severity ?? "good");
    setText(this.#note, worst && worst.why ? `${legible(worst.name)}: ${worst.why}` : "");
    const told = readings.map(({ name, text, unit }) => `${legible(name)} ${text} ${unit}`).join(", ");
    if (this.#surface.canvas.ariaLabel !== told) this.#surface.canvas.ariaLabel = told;
  }

  #paint(readings: readonly [WidgetReading, WidgetReading]): void {
    const plate = this.#surface.canvas.parentElement;
    const ctx = plate && this.#surface.begin(plate.clientHeight);
    if (!ctx) return;
    const { xs, ys, length } = this.#points;
    const box = { left: LEFT, top: TOP, width: this.#surface.width - LEFT - RIGHT, height: plate.clientHeight - TOP - BOTTOM };
    if (box.width < 20 || box.height < 20) return;
    const ranges = [rangeOf(xs, length, readings[0]), rangeOf(ys, length, readings[1])] as const;
    const x = (value: number) => box.left + ((value - ranges[0][0]) / (ranges[0][1] - ranges[0][0])) * box.width;
    const y = (value: number) => box.top + box.height - ((value - ranges[1][0]) / (ranges[1][1] - ranges[1][0])) * box.height;
    this.#axes(ctx, box, ranges, readings);
    this.#trail(ctx, x, y);
    const newest = length - 1;
    if (newest < 0 || Number.isNaN(xs[newest]!)) return;
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.#surface.colour(readings.every(({ severity }) => severity === "good") ? "--accent" : "--warning");
    ctx.beginPath();
    ctx.arc(x(xs[newest]!), y(ys[newest]!), 4.5, 0, 2 * Math.PI);
    ctx.fill();
  }

  #trail(ctx: CanvasRenderingContext2D, x: (value: number) => number, y: (value: number) => number): void {
    const { xs, ys, length } = this.#points;
    ctx.strokeStyle = this.#surface.colour("--plot-1");
    ctx.lineWidth = 1.4;
    ctx.lineJoin = "round";
    for (let part = 0; part < PARTS; part += 1) {
      const end = Math.min(length - 1, Math.ceil(((part + 1) * length) / PARTS));
      let isOpen = false;
      ctx.globalAlpha = 0.15 + (0.85 * (part + 1)) / PARTS;
      ctx.beginPath();
      for (let at = Math.floor((part * length) / PARTS); at <= end; at += 1) {
        if (Number.isNaN(xs[at]!)) isOpen = false;
        else if (isOpen) ctx.lineTo(x(xs[at]!), y(ys[at]!));
        else {
          ctx.moveTo(x(xs[at]!), y(ys[at]!));
          isOpen = true;
        }
      }
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  #axes(
    ctx: CanvasRenderingContext2D,
    { left, top, width, height }: { left: number; top: number; width: number; height: number },
    [across, up]: readonly [Range, Range],
    [first, second]: readonly [WidgetReading, WidgetReading],
  ): void {
    ctx.strokeStyle = this.#surface.colour("--grid");
    ctx.fillStyle = this.#surface.colour("--text-quiet");
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const rows = valueMarks(up[0], up[1], Math.max(2, height / 30));
    for (const mark of rows) {
      const at = Math.round(top + height - ((mark - up[0]) / (up[1] - up[0])) * height) + 0.5;
      line(ctx, left, at, left + width, at);
      ctx.fillText(markText(mark, (rows[1] ?? 1) - (rows[0] ?? 0)), left - 6, at);
    }
    const columns = valueMarks(across[0], across[1], Math.max(2, width / 64));
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    for (const mark of columns) {
      const at = Math.round(left + ((mark - across[0]) / (across[1] - across[0])) * width) + 0.5;
      line(ctx, at, top, at, top + height);
      ctx.fillText(markText(mark, (columns[1] ?? 1) - (columns[0] ?? 0)), at, top + height + 4);
    }
    const [right, above] = labels([first.name, second.name], Math.max(12, width / 16));
    ctx.textAlign = "right";
    ctx.fillText(`${right}${inUnit(first)} →`, left + width, top + height + 19);
    ctx.textAlign = "left";
    ctx.fillText(`↑ ${above}${inUnit(second)}`, 4, top + height + 19);
  }
}

function inUnit({ unit }: WidgetReading): string {
  return unit ? ` in ${unit}` : "";
}

function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

function rangeOf(values: Float64Array, length: number, { definition }: WidgetReading): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < length; at += 1) {
    if (values[at]! < low) low = values[at]!;
    if (values[at]! > high) high = values[at]!;
  }
  return valueRange(low <= high ? [low, high] : null, [], definition?.range ?? null);
}
