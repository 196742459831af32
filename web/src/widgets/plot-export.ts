// Saves what a plot shows: a picture that says what and when it is, and a table. The browser keeps the files; nothing is sent.
import { isoTime, seriesCsv } from "../model/series-csv.ts";
import { timeText } from "../model/time-axis.ts";
import type { ShownWindow, TimeMode } from "../model/time-control.ts";
import { legible } from "../model/wording.ts";
import { element } from "../views/page.ts";
import { shownValue } from "./plot-legend.ts";
import type { PlotLine } from "./plot-lines.ts";
import type { WidgetContext } from "./widget.ts";

interface Exported {
  readonly title: string;
  readonly lines: readonly PlotLine[];
  readonly window: ShownWindow;
}

const MARGIN = 16;
const HEAD = 46;
const ROW = 18;
const WORDS: Record<TimeMode, string> = { live: "", paused: "PAUSED", replay: "REPLAY" };

export function saveCsv({ title, lines, window }: Exported, { series }: WidgetContext): void {
  const text = seriesCsv(lines.map(({ name, unit }) => ({ name, unit, slice: series.slice(name), exactAt: (at_ms: number) => series.exactAt(name, at_ms) })), window);
  save(new Blob([text], { type: "text/csv" }), fileName(title, window, "csv"));
}

export function savePng(exported: Exported, plot: HTMLCanvasElement, host: HTMLElement, context: WidgetContext): void {
  const canvas = pictureOf(exported, plot, host, context);
  canvas.toBlob((blob) => {
    if (blob) save(blob, fileName(exported.title, exported.window, "png"));
  }, "image/png");
}

function pictureOf({ title, lines, window }: Exported, plot: HTMLCanvasElement, host: HTMLElement, context: WidgetContext): HTMLCanvasElement {
  const ratio = plot.width / Math.max(1, plot.clientWidth);
  const width = plot.clientWidth + 2 * MARGIN;
  const height = HEAD + plot.clientHeight + lines.length * ROW + 2 * MARGIN;
  const canvas = element("canvas");
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  const colours = getComputedStyle(host);
  const colour = (name: string) => colours.getPropertyValue(name);
  pen.scale(ratio, ratio);
  pen.fillStyle = colour("--surface");
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = colour("--text");
  pen.font = "600 15px system-ui, sans-serif";
  pen.fillText(legible(title), MARGIN, MARGIN + 10);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = colour("--text-quiet");
  const span_ms = window.to_ms - window.from_ms;
  pen.fillText(`${timeText(window.from_ms, span_ms)} to ${timeText(window.to_ms, span_ms)} UTC`, MARGIN, MARGIN + 27);
  drawMarks(pen, [context.mark(), WORDS[context.time.mode]], width, colour);
  pen.drawImage(plot, MARGIN, HEAD, plot.clientWidth, plot.clientHeight);
  lines.forEach((line, at) => {
    const y = HEAD + plot.clientHeight + MARGIN + at * ROW;
    pen.fillStyle = colour(`--plot-${line.colour}`);
    pen.fillRect(MARGIN, y - 5, 16, 3);
    pen.fillStyle = colour("--text");
    pen.fillText(`${legible(line.name)}   ${shownValue(context, line, window.to_ms)} ${legible(line.unit)}`, MARGIN + 24, y);
  });
  return canvas;
}

/** What nobody shall take for another thing, at the right of the head. */
function drawMarks(pen: CanvasRenderingContext2D, marks: string[], width: number, colour: (name: string) => string): void {
  pen.font = "600 12px system-ui, sans-serif";
  let right = width - MARGIN;
  for (const mark of marks.filter((one) => one !== "")) {
    const text = legible(mark);
    const length = pen.measureText(text).width;
    pen.fillStyle = colour("--mark");
    pen.fillRect(right - length - 12, MARGIN - 4, length + 12, 20);
    pen.fillStyle = colour("--mark-text");
    pen.fillText(text, right - length - 6, MARGIN + 10);
    right -= length + 20;
  }
}

function save(blob: Blob, name: string): void {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Letters, digits and dashes only: a title may come from strangers. */
function fileName(title: string, { to_ms }: ShownWindow, ending: string): string {
  const plain = title.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "plot";
  return `${plain}-${isoTime(Math.floor(to_ms / 1_000) * 1_000).replace(/[-:]|\.\d+/g, "")}.${ending}`;
}
