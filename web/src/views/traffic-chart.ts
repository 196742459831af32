// Messages in and out per second over the last two minutes.
import type { TrafficCounts } from "../model/contract.ts";
import type { Traffic } from "../model/traffic.ts";
import { perSecond, timeOfDay } from "../model/wording.ts";
import { LineChart, type TimeWindow } from "./line-chart.ts";
import { element, part, setText } from "./page.ts";

const HEIGHT = 170;

export class TrafficChart {
  readonly #in = element("span", "key key-in");
  readonly #out = element("span", "key key-out");
  readonly #when = element("span", "note");
  readonly #chart: LineChart;

  constructor() {
    part("traffic-legend").append(this.#when, this.#in, this.#out);
    this.#chart = new LineChart({
      host: part("traffic-plot"),
      lines: [{ colour: "--line-in" }, { colour: "--line-out", dash: [5, 3] }],
      height: HEIGHT,
      fromZero: true,
    });
  }

  render(traffic: Traffic, latest: TrafficCounts, window: TimeWindow): void {
    const incoming = traffic.messages_in.series();
    const outgoing = traffic.messages_out.series();
    this.#chart.draw([incoming, outgoing], window);
    const index = this.#chart.pointedAt;
    const at_ms = index === null ? undefined : incoming.times[index];
    setText(this.#when, at_ms === undefined ? "" : timeOfDay(at_ms));
    setText(this.#in, `in ${perSecond(index === null ? latest.messages_in : known(incoming.values[index]))}`);
    setText(this.#out, `out ${perSecond(index === null ? latest.messages_out : known(outgoing.values[index]))}`);
  }
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
