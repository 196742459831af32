// The data flow: who sends to the broker, who gets from it and who reads its journal, with rates and queues; a box leads to
// its page.
import type { ConsoleState } from "../model/console-state.ts";
import { flowOf } from "../model/flow.ts";
import type { LivePart } from "../model/live-parts.ts";
import { counted } from "../model/wording.ts";
import { explainNoClients } from "../views/empty-states.ts";
import { FlowPicture } from "../views/flow-picture.ts";
import { element, setText } from "../views/page.ts";
import type { Page, PageContext } from "./page.ts";

/** On each side; more are summed up. */
const ROOM_WIDE = 12;
const ROOM_NARROW = 6;
const NARROW = 640;
/** The page of the pipeline has all. */
const CONSUMERS_MAX = 6;

export class FlowPage implements Page {
  readonly path = "flow";
  readonly title = "Data flow";
  readonly #panel = element("section", "panel flow-panel");
  readonly #count = element("p", "note");
  readonly #host = element("div", "flow-host");
  readonly #empty = element("div", "empty");
  readonly #picture = new FlowPicture();
  #context: PageContext | null = null;

  constructor() {
    const title = element("h2", "", "Data flow");
    title.id = "flow-title";
    this.#panel.setAttribute("aria-labelledby", title.id);
    this.#count.id = "flow-count";
    const head = element("div", "panel-head");
    head.append(title, this.#count);
    this.#host.append(this.#picture.root);
    this.#panel.append(head, this.#host, this.#empty);
  }

  parts(): readonly LivePart[] {
    return ["clients"];
  }

  show(root: HTMLElement, context: PageContext): void {
    this.#context = context;
    if (!this.#panel.isConnected) root.append(this.#panel);
  }

  render(): void {
    if (this.#context) this.#draw(this.#context.state);
  }

  hide(): void {
    this.#context = null;
  }

  #draw({ latest, clientRates }: ConsoleState): void {
    const clients = latest?.clients ?? [];
    this.#empty.hidden = clients.length > 0;
    this.#host.hidden = clients.length === 0;
    if (latest === null || clients.length === 0) return explainNoClients(this.#empty, latest);
    const width = this.#host.clientWidth;
    const flow = flowOf(clients, (client_id) => clientRates.of(client_id), width < NARROW ? ROOM_NARROW : ROOM_WIDE);
    const slow = [...flow.publishers.shown, ...flow.subscribers.shown].filter((end) => end.slow !== null).length;
    const said = slow > 0 ? `${counted(slow, "slow client")}; ` : "nobody is slow; ";
    setText(this.#count, `${said}the busiest first; choose one for its details`);
    this.#picture.render(flow, latest, latest.broker.journal.consumers.slice(0, CONSUMERS_MAX), width);
  }
}
