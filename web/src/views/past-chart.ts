// One parameter over the shown time, with its limits: from the past that the broker tells.
import type { ParameterDefinition } from "../model/contract.ts";
import type { HistoryPage } from "../model/history-answer.ts";
import type { ShownWindow } from "../model/time-control.ts";
import type { Series } from "../model/value-history.ts";
import { LineChart } from "./line-chart.ts";
import { element } from "./page.ts";

const HEIGHT = 170;
/** A limit that is further from the values than this many times their spread would flatten them: it is told in words. */
const REACH = 2;

export class PastChart {
  readonly root = element("div", "plot");
  #chart: LineChart | null = null;

  constructor(name: string) {
    this.root.role = "img";
    this.root.ariaLabel = `${name} over the shown time`;
  }

  get width(): number {
    return this.#chart?.width ?? 600;
  }

  render(past: HistoryPage, definition: ParameterDefinition, window: ShownWindow): void {
    this.#chart ??= new LineChart({
      host: this.root,
      lines: [
        { colour: "--line-in" },
        { colour: "--line-in" },
        ...["--fault", "--warning", "--warning", "--fault"].map((colour) => ({ colour, dash: [6, 4] })),
      ],
      height: HEIGHT,
      fromZero: false,
    });
    const times = past.times;
    const low: Series = { times, values: past.min };
    const high: Series = { times, values: past.max };
    this.#chart.draw([low, high, ...limitLines(past, definition)], window);
  }

  destroy(): void {
    this.#chart?.close();
    this.root.remove();
  }
}

/** Four lines, of which those that are not there or too far away are empty. */
function limitLines({ times, min, max }: HistoryPage, { limits }: ParameterDefinition): Series[] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < times.length; at += 1) {
    low = Math.min(low, min[at] ?? low);
    high = Math.max(high, max[at] ?? high);
  }
  const spread = Math.max(high - low, Math.abs(high) * 0.05);
  const levels = [limits?.low_critical, limits?.low, limits?.high, limits?.high_critical];
  return levels.map((level) => {
    const is_near = typeof level === "number" && level >= low - REACH * spread && level <= high + REACH * spread;
    return { times, values: new Float64Array(times.length).fill(is_near ? level : Number.NaN) };
  });
}
