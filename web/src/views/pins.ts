// The values a person chose to follow, each on its own chart. A fifth one takes the place of the oldest.
import type { TopicRecord, ValueStore } from "../model/value-store.ts";
import type { TimeWindow } from "./line-chart.ts";
import { part } from "./page.ts";
import { PinnedChart } from "./pinned-chart.ts";

const PINS_MAX = 4;

export class PinnedCharts {
  readonly #host = part("pins");
  readonly #hint = part("pins-hint");
  /** In the order of pinning. */
  readonly #charts = new Map<string, PinnedChart>();

  get size(): number {
    return this.#charts.size;
  }

  has(topic: string): boolean {
    return this.#charts.has(topic);
  }

  toggle(record: TopicRecord): void {
    if (this.#charts.has(record.topic)) this.#unpin(record.topic);
    else if (record.reading !== null) this.#pin(record.topic);
    this.#hint.hidden = this.#charts.size > 0;
  }

  render(values: ValueStore, window: TimeWindow): void {
    for (const [topic, chart] of this.#charts) chart.render(values.get(topic), window);
  }

  #pin(topic: string): void {
    const [oldest] = this.#charts.keys();
    if (oldest !== undefined && this.#charts.size >= PINS_MAX) this.#unpin(oldest);
    const chart = new PinnedChart(topic, this.#host, () => this.#close(topic));
    this.#charts.set(topic, chart);
  }

  #close(topic: string): void {
    this.#unpin(topic);
    this.#hint.hidden = this.#charts.size > 0;
    part("values-scroll").focus({ preventScroll: true });
  }

  #unpin(topic: string): void {
    this.#charts.get(topic)?.close();
    this.#charts.delete(topic);
  }
}
