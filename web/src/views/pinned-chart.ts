// One value over the last two minutes, with its range. It shows the newest value of each message from the broker.
import { downsample } from "../model/downsample.ts";
import type { Series } from "../model/value-history.ts";
import type { TopicRecord } from "../model/value-store.ts";
import { legible, payload, reading, timeOfDay } from "../model/wording.ts";
import { LineChart, type TimeWindow } from "./line-chart.ts";
import { element, setText } from "./page.ts";

const HEIGHT = 130;

export class PinnedChart {
  readonly #root = element("article", "panel pin");
  readonly #value = element("span", "pin-value");
  readonly #range = element("p", "note");
  readonly #chart: LineChart;

  constructor(topic: string, host: HTMLElement, onClose: () => void) {
    const plot = element("div", "plot");
    plot.role = "img";
    plot.ariaLabel = `${legible(topic)} over the last two minutes`;
    this.#root.dataset["pinned"] = topic;
    this.#root.append(this.#head(topic, onClose), plot, this.#range);
    host.append(this.#root);
    this.#chart = new LineChart({ host: plot, lines: [{ colour: "--line-in" }], height: HEIGHT, fromZero: false });
  }

  render(record: TopicRecord | undefined, window: TimeWindow): void {
    if (!record) return setText(this.#range, "The broker no longer knows this topic.");
    const columns = this.#chart.width;
    const series = downsample(record.history.series(), { ...window, columns });
    this.#chart.draw([series], window);
    setText(this.#value, payload(record.newest.text, record.newest.bytes));
    setText(this.#range, this.#describe(series));
  }

  close(): void {
    this.#chart.close();
    this.#root.remove();
  }

  #describe(series: Series): string {
    const index = this.#chart.pointedAt;
    const at_ms = index === null ? undefined : series.times[index];
    const value = index === null ? undefined : series.values[index];
    if (at_ms !== undefined && value !== undefined) return `${timeOfDay(at_ms)}: ${reading(value)}`;
    const known = series.values.filter((sample) => !Number.isNaN(sample));
    if (known.length === 0) return "No number in the last two minutes.";
    return `between ${reading(Math.min(...known))} and ${reading(Math.max(...known))}`;
  }

  #head(topic: string, onClose: () => void): HTMLElement {
    const head = element("div", "panel-head");
    const close = element("button", "close");
    close.type = "button";
    close.ariaLabel = `Close the chart of ${legible(topic)}`;
    close.addEventListener("click", onClose);
    const name = element("h3", "", legible(topic));
    name.title = legible(topic);
    head.append(name, this.#value, close);
    return head;
  }
}
