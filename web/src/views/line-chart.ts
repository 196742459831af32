// A uPlot line chart over a moving window of time, with the colours of the page's theme and the size of its container.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Series } from "../model/value-history.ts";
import { reading } from "../model/wording.ts";

interface ChartLine {
  /** Custom property of the style sheet that holds the colour. */
  colour: string;
  dash?: number[];
}

export interface TimeWindow {
  from_ms: number;
  to_ms: number;
}

interface LineChartOptions {
  host: HTMLElement;
  lines: ChartLine[];
  height: number;
  /** Rates start at zero; readings show their own range. */
  fromZero: boolean;
}

const FONT = "11px system-ui, sans-serif";
const AXIS_WIDTH = 58;

export class LineChart {
  readonly #host: HTMLElement;
  readonly #height: number;
  readonly #plot: uPlot;
  readonly #resized: ResizeObserver;

  constructor(options: LineChartOptions) {
    this.#host = options.host;
    this.#height = options.height;
    const empty: uPlot.AlignedData = [[], ...options.lines.map(() => [])];
    this.#plot = new uPlot(plotOptions(options, this.width), empty, options.host);
    this.#resized = new ResizeObserver(() => this.#plot.setSize({ width: this.width, height: this.#height }));
    this.#resized.observe(options.host);
  }

  get width(): number {
    return Math.max(120, this.#host.clientWidth);
  }

  /** Index of the sample under the pointer; null when it is elsewhere. */
  get pointedAt(): number | null {
    return this.#plot.cursor.idx ?? null;
  }

  /** All series share the times of the first. */
  draw(series: [Series, ...Series[]], window: TimeWindow): void {
    const times = Array.from(series[0].times, (time) => time / 1_000);
    const columns = series.map(({ values }) => Array.from(values, (value) => (Number.isNaN(value) ? null : value)));
    this.#plot.batch(() => {
      this.#plot.setData([times, ...columns], false);
      this.#plot.setScale("x", { min: window.from_ms / 1_000, max: window.to_ms / 1_000 });
    });
  }

  close(): void {
    this.#resized.disconnect();
    this.#plot.destroy();
  }
}

function plotOptions({ lines, height, fromZero }: LineChartOptions, width: number): uPlot.Options {
  return {
    width,
    height,
    tzDate: (at_s) => uPlot.tzDate(new Date(at_s * 1_000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    padding: [8, 24, 0, 0],
    scales: { x: { time: true, auto: false }, y: { range: fromZero ? rangeFromZero : rangeOfReadings } },
    axes: [timeAxis(), valueAxis()],
    series: [{}, ...lines.map(lineSeries)],
  };
}

function rangeFromZero(_plot: uPlot, _low: number | null, high: number | null): uPlot.Range.MinMax {
  return [0, Math.max(1, (high ?? 0) * 1.15)];
}

function rangeOfReadings(_plot: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  if (low === high) return [low - Math.max(1, Math.abs(low) * 0.05), high + Math.max(1, Math.abs(high) * 0.05)];
  const margin = (high - low) * 0.1;
  return [low - margin, high + margin];
}

function lineSeries({ colour, dash }: ChartLine): uPlot.Series {
  const stroke = () => themed(colour);
  return { stroke, width: 1.5, points: { size: 4, fill: stroke }, ...(dash ? { dash } : {}) };
}

function timeAxis(): uPlot.Axis {
  return { ...axisLook(), size: 24, space: 70, values: "{HH}:{mm}:{ss}" };
}

function valueAxis(): uPlot.Axis {
  return { ...axisLook(), size: AXIS_WIDTH, space: 28, values: (_plot, ticks) => ticks.map(reading) };
}

function axisLook(): uPlot.Axis {
  const grid = { stroke: () => themed("--grid"), width: 1 };
  return { stroke: () => themed("--text-quiet"), font: FONT, grid, ticks: { show: false } };
}

function themed(property: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property);
}
