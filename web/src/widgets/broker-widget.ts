// The broker's own figures, its traffic and its busiest clients, from the live message. They are always those of now.
import { brokerFigures, FIGURES } from "../model/broker-figures.ts";
import type { ClientStatus, LiveMessage } from "../model/contract.ts";
import { HISTORY_MS } from "../model/value-history.ts";
import { clientName, count, bytes } from "../model/wording.ts";
import { LineChart } from "../views/line-chart.ts";
import { element, setData, setText, setTitle } from "../views/page.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";

const CLIENTS_MAX = 20;
const COLUMNS = ["Client", "In", "Out", "Queue", "Dropped"] as const;

export class BrokerWidget extends Instrument {
  readonly #figures: readonly string[];
  readonly #tiles = element("div", "broker-tiles");
  readonly #plot = element("div", "broker-traffic");
  readonly #clients = element("div", "instrument-scroll");
  #chart: LineChart | null = null;
  #chartHeight = 0;

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, 0);
    const asked = this.options["figures"];
    this.#figures = Array.isArray(asked) ? asked.filter((one) => typeof one === "string") : FIGURES;
    this.#plot.role = "img";
    this.#plot.ariaLabel = "Messages per second, the last two minutes";
    this.#clients.tabIndex = 0;
    this.#clients.role = "table";
    this.#clients.ariaLabel = "Busiest clients";
    if (this.#has("traffic")) this.element.append(this.#plot);
    if (this.#figures.some((name) => FIGURES.includes(name))) this.element.append(this.#tiles);
    if (this.#has("busiest")) this.element.append(this.#clients);
    this.element.dataset["ofNow"] = "";
  }

  override resize(): void {
    const height = this.#plot.clientHeight;
    if (!this.#chart || height === this.#chartHeight) return;
    this.#chart.close();
    this.#chart = null;
  }

  override destroy(): void {
    this.#chart?.close();
    super.destroy();
  }

  protected draw(_shown_ms: number, now_ms: number): void {
    const message = this.context.state.latest;
    if (message === null) return;
    this.#drawTiles(message);
    if (this.#has("traffic")) this.#drawTraffic(now_ms);
    if (this.#has("busiest")) this.#drawClients(message.clients);
  }

  #has(figure: string): boolean {
    return this.#figures.includes(figure);
  }

  #drawTiles(message: LiveMessage): void {
    const figures = brokerFigures(this.#figures, message);
    while (this.#tiles.childElementCount < figures.length) this.#tiles.append(tile());
    figures.forEach((figure, at) => {
      const [label, line, note] = [...this.#tiles.children[at]!.children] as HTMLElement[];
      setText(label!, figure.label);
      setText(line!.children[0]!, figure.value);
      setText(line!.children[1]!, figure.unit);
      setText(note!, figure.note);
      setData(this.#tiles.children[at] as HTMLElement, "severity", figure.isWarning ? "warning" : "good");
    });
  }

  #drawTraffic(now_ms: number): void {
    if (!this.#chart) {
      this.#chartHeight = this.#plot.clientHeight;
      if (this.#chartHeight < 40) return;
      const lines = [{ colour: "--line-in" }, { colour: "--line-out", dash: [6, 4] }];
      this.#chart = new LineChart({ host: this.#plot, lines, height: this.#chartHeight, fromZero: true });
    }
    const { messages_in, messages_out } = this.context.state.traffic;
    const window = { from_ms: now_ms - HISTORY_MS, to_ms: now_ms };
    this.#chart.draw([messages_in.series(), messages_out.series()], window);
  }

  #drawClients(clients: readonly ClientStatus[]): void {
    const busiest = clients.toSorted((one, other) => moved(other) - moved(one)).slice(0, CLIENTS_MAX);
    while (this.#clients.childElementCount > busiest.length + 1) this.#clients.lastElementChild?.remove();
    while (this.#clients.childElementCount < busiest.length + 1) this.#clients.append(clientLine(this.#clients.childElementCount === 0));
    busiest.forEach((client, at) => {
      const row = this.#clients.children[at + 1] as HTMLElement;
      const texts = [clientName(client.client_id), bytes(client.bytes_in), bytes(client.bytes_out), count(client.queued_messages), count(client.dropped)];
      texts.forEach((text, column) => setText(row.children[column]!, text));
      setTitle(row.children[0] as HTMLElement, clientName(client.client_id));
      setData(row, "severity", client.dropped > 0 || client.slowed ? "warning" : "good");
    });
  }
}

function moved({ bytes_in, bytes_out }: ClientStatus): number {
  return bytes_in + bytes_out;
}

function tile(): HTMLElement {
  const made = element("div", "big");
  const line = element("p", "big-line");
  line.append(element("b", "big-value", "–"), element("span", "big-unit"));
  line.children[0]!.after(" ");
  made.append(element("p", "big-label"), line, element("p", "why"));
  return made;
}

function clientLine(isHead: boolean): HTMLElement {
  const made = element("div", isHead ? "value-line client-line value-line-head" : "value-line client-line");
  made.role = "row";
  for (const title of COLUMNS) {
    const cell = element("span", `value-${title.toLowerCase()}`, isHead ? title : "");
    cell.role = isHead ? "columnheader" : "cell";
    made.append(cell);
  }
  return made;
}
