// Everything about one client: who it is, how it keeps up, why it lost messages; and a button to disconnect it.
import type { ClientRates } from "../model/client-rates.ts";
import { slowness } from "../model/client-rates.ts";
import { clientFacts, eventsOf } from "../model/client-wording.ts";
import type { ConsoleState } from "../model/console-state.ts";
import type { BrokerEvent, ClientStatus } from "../model/contract.ts";
import { clientName, legible } from "../model/wording.ts";
import { actionButton, DISCONNECT } from "./client-actions.ts";
import { eventItem } from "./events-list.ts";
import { element, setData, setText } from "./page.ts";

const EVENTS_SHOWN = 8;
const FILTERS_SHOWN = 200;

export class ClientDetail {
  readonly root = element("section", "panel client-detail");
  readonly #title = element("h2");
  readonly #said = element("p", "note");
  readonly #actions = element("p", "actions");
  readonly #facts = element("dl", "ledger");
  readonly #filters = element("ul", "filters");
  readonly #events = element("ol", "events-list");
  readonly #mayAct: () => boolean;
  #client_id = "";
  #drawn = "";

  constructor(mayAct: () => boolean) {
    this.#mayAct = mayAct;
    this.root.id = "client-detail";
    this.root.hidden = true;
    this.#title.id = "client-detail-title";
    this.#title.tabIndex = -1;
    this.root.setAttribute("aria-labelledby", this.#title.id);
    this.#said.role = "status";
    this.#said.id = "client-said";
    this.#filters.ariaLabel = "Subscriptions";
    this.#events.ariaLabel = "What happened to it";
    const close = element("a", "deed", "Close");
    close.href = "#/clients";
    const head = element("div", "panel-head");
    head.append(this.#title, this.#said, this.#actions, close);
    const lists = element("div", "client-lists");
    lists.append(titled("Subscriptions", this.#filters), titled("What happened to it", this.#events));
    this.root.append(head, this.#facts, lists);
  }

  /** Shows a client, or nothing if the name is empty. */
  choose(client_id: string): void {
    this.#client_id = client_id;
    this.root.hidden = client_id === "";
    this.#drawn = "";
    setText(this.#said, "");
    this.#actions.replaceChildren();
  }

  render(state: ConsoleState, rates: ClientRates): void {
    if (this.root.hidden || state.latest === null) return;
    const client = state.latest.clients.find(({ client_id }) => client_id === this.#client_id);
    setText(this.#title, clientName(this.#client_id));
    if (client) this.#renderClient(client, rates);
    else this.#renderNobody(state.latest.clients_total > state.latest.clients.length);
    this.#renderEvents(eventsOf(state.events.newestFirst, this.#client_id, EVENTS_SHOWN));
  }

  #renderClient(client: ClientStatus, rates: ClientRates): void {
    const rate = rates.of(client.client_id);
    setData(this.root, "slow", slowness(client, rate) === null ? "no" : "yes");
    if (this.#mayAct() && this.#actions.childElementCount === 0) {
      this.#actions.append(actionButton(DISCONNECT, client.client_id, (words) => setText(this.#said, words)));
    }
    const facts = clientFacts(client, rate);
    if (this.#facts.childElementCount !== facts.length) this.#facts.replaceChildren(...facts.map(([name]) => factRow(name)));
    facts.forEach(([, text], index) => setText(this.#facts.children[index]?.lastElementChild as Element, text));
    const filters = client.subscriptions.slice(0, FILTERS_SHOWN).map(legible);
    if (client.subscriptions.length > filters.length) filters.push(`and ${client.subscriptions.length - filters.length} more`);
    const key = filters.join("\n");
    if (key === this.#drawn && this.#filters.childElementCount > 0) return;
    this.#drawn = key;
    this.#filters.replaceChildren(...(filters.length > 0 ? filters : ["none"]).map((filter) => element("li", "", filter)));
  }

  #renderNobody(mayBeBeyond: boolean): void {
    this.#actions.replaceChildren();
    this.#filters.replaceChildren();
    this.#drawn = "";
    const words = mayBeBeyond ? "It is not among the clients that the page is sent." : "It is not connected now.";
    if (this.#facts.textContent !== `State${words}`) {
      const row = factRow("State");
      setText(row.lastElementChild as Element, words);
      this.#facts.replaceChildren(row);
    }
  }

  #renderEvents(events: readonly BrokerEvent[]): void {
    const key = events.map(({ at_ms, text }) => `${at_ms} ${text}`).join("\n");
    if (this.#events.dataset["said"] === key && this.#events.childElementCount > 0) return;
    setData(this.#events, "said", key);
    const items = events.map(eventItem);
    this.#events.replaceChildren(...(items.length > 0 ? items : [element("li", "none", "nothing among the last events")]));
  }
}

function factRow(name: string): HTMLElement {
  const row = element("div");
  row.append(element("dt", "", name), element("dd"));
  row.dataset["fact"] = name.toLowerCase();
  return row;
}

function titled(title: string, list: HTMLElement): HTMLElement {
  const made = element("div");
  made.append(element("h3", "", title), list);
  return made;
}
