// Requests: how many are in each state, who serves them, which are open or ended last; and the life of one.
import { type LiveMessage, OneRequestMessage, type RequestFigures, RequestsMessage } from "../model/contract.ts";
import { requestCells, requestsExtent, serviceCells, topicCells, waitingCells } from "../model/request-wording.ts";
import { parse } from "../model/shape.ts";
import { count, legible } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { madeTable } from "./made-table.ts";
import { element, explain, part, setData, setText } from "./page.ts";
import { RequestLife } from "./request-life.ts";

/** The broker is asked so often while there are requests and somebody sees the page. */
const ASK_MS = 1_000;
const REQUESTS_SHOWN = 100;
const NO_REQUESTS = "No requests yet. A message with a response topic and a time-out is one; ask, and it appears here:";
const NONE_FOUND = "No request is in this state, or its topic does not match.";

export class RequestsPanel {
  readonly #count = element("p", "note");
  readonly #search = element("input");
  readonly #states = element("div", "request-states");
  readonly #empty = element("div", "empty");
  readonly #life = new RequestLife(() => this.#choose(null));
  readonly #requests: KeyedRows;
  readonly #services: KeyedRows;
  readonly #topics: KeyedRows;
  readonly #waiting: KeyedRows;
  #state = "";
  #chosen: string | null = null;
  #latest: LiveMessage | null = null;
  #asked = 0;

  constructor() {
    const requests = madeTable("requests-table", "Requests", [
      "Topic", "State", "Asker", "Service", "Priority", "+Age", "+Took", "",
    ]);
    const services = madeTable("services-table", "Services", [
      "Service", "State", "+Busy", "+Answered", "+Failed", "+p50", "+p99",
    ]);
    const topics = madeTable("request-topics-table", "Topics with open requests", ["Topic", "+Open", "+Stored"]);
    const waiting = madeTable("waiting-table", "Messages that wait for a subscriber", [
      "Waits for a subscriber", "+Messages", "+Data",
    ]);
    this.#requests = new KeyedRows(requests.table, "request", [0, 2, 3]);
    this.#services = new KeyedRows(services.table, "service", [0]);
    this.#topics = new KeyedRows(topics.table, "requestTopic", [0]);
    this.#waiting = new KeyedRows(waiting.table, "waitingTopic", [0]);
    for (const rows of [this.#requests, this.#services, this.#topics, this.#waiting]) rows.render([]);
    const beside = element("div", "request-tables");
    beside.append(services.scroll, topics.scroll, waiting.scroll);
    part("requests").append(this.#head(), this.#states, this.#life.node, beside, requests.scroll, this.#empty);
    void this.#askAgain();
  }

  render(latest: LiveMessage | null): void {
    this.#latest = latest;
    if (latest === null) return explain(this.#empty, "Waiting for the broker.");
    setText(this.#count, isUsed(latest) ? requestsExtent(latest.requests) : "");
    this.#renderStates(latest.requests);
    if (!isUsed(latest)) explain(this.#empty, NO_REQUESTS, ["slipring request --wait demo/question 'how are you?'"]);
  }

  #head(): HTMLElement {
    const heading = element("h2", "", "Requests");
    heading.id = "requests-title";
    this.#count.id = "requests-count";
    this.#empty.id = "requests-empty";
    this.#states.ariaLabel = "Requests by state";
    this.#states.role = "group";
    Object.assign(this.#search, { id: "requests-search", type: "search", placeholder: "Topic filter", maxLength: 1_000 });
    this.#search.spellcheck = false;
    this.#search.ariaLabel = "Requests on topics that match this filter";
    this.#search.addEventListener("input", () => void this.#ask());
    const head = element("div", "panel-head");
    head.append(heading, this.#count, this.#search);
    return head;
  }

  /** A button for each state: how many there are; pressed, only those are shown. */
  #renderStates({ states, ends }: RequestFigures): void {
    const counts = [...states, ...ends];
    if (this.#states.childElementCount !== counts.length) {
      this.#states.replaceChildren(...counts.map(({ state }) => this.#stateButton(state)));
    }
    counts.forEach(({ state, count: number }, index) => {
      const button = this.#states.children[index] as HTMLElement;
      setText(button.children[0] as Element, count(number));
      setData(button, "any", number > 0 ? "yes" : "no");
      button.ariaPressed = String(this.#state === state);
    });
  }

  #stateButton(state: string): HTMLButtonElement {
    const button = element("button");
    button.type = "button";
    button.dataset["requestState"] = state;
    button.append(element("strong"), element("span", "", state));
    button.addEventListener("click", () => {
      this.#state = this.#state === state ? "" : state;
      void this.#ask();
    });
    return button;
  }

  async #askAgain(): Promise<void> {
    if (document.visibilityState === "visible" && this.#latest !== null && isUsed(this.#latest)) await this.#ask();
    window.setTimeout(() => void this.#askAgain(), ASK_MS);
  }

  /** An answer that comes after that of a later question is not shown. */
  async #ask(): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    const wanted = new URLSearchParams({ most: String(REQUESTS_SHOWN), topic: this.#search.value });
    if (this.#state !== "") wanted.set("state", this.#state);
    const listed = await answer(`api/requests?${wanted}`);
    const one = this.#chosen === null ? null : await answer(`api/requests/${encodeURIComponent(this.#chosen)}`);
    if (asked !== this.#asked) return;
    if (listed?.ok) this.#show(parse(RequestsMessage, listed.text));
    if (listed?.ok === false) this.#explainNothing(legible(listed.text.trim()));
    if (one === null || this.#chosen === null) return;
    if (one.ok) this.#life.render(parse(OneRequestMessage, one.text));
    else this.#life.miss(this.#chosen);
  }

  #show({ at_ms, figures, requests, services, topics, waiting }: RequestsMessage): void {
    this.#renderStates(figures);
    const rows = this.#requests.render(requests.map((one) => ({ key: one.key, cells: requestCells(one, at_ms) })));
    requests.forEach(({ key, state }, index) => {
      const row = rows[index];
      if (!row) return;
      setData(row, "state", state);
      this.#offer(row, key);
    });
    const serving = this.#services.render(services.map((one) => ({ key: one.client_id, cells: serviceCells(one) })));
    services.forEach(({ busy, limit }, index) => {
      serving[index]?.style.setProperty("--share", String(limit > 0 ? Math.min(1, busy / limit) : 0));
    });
    this.#topics.render(topics.map((one) => ({ key: one.topic, cells: topicCells(one) })));
    this.#waiting.render(waiting.map((one) => ({ key: one.topic, cells: waitingCells(one) })));
    this.#explainNothing(requests.length === 0 ? NONE_FOUND : "");
  }

  /** Adds the button that opens the request's life. */
  #offer(row: HTMLTableRowElement, key: string): void {
    const cell = row.cells[row.cells.length - 1];
    if (!cell || cell.childElementCount > 0) return;
    const button = element("button", "deed", "Life");
    button.type = "button";
    cell.append(button);
    row.addEventListener("click", () => this.#choose(key));
  }

  #choose(key: string | null): void {
    this.#chosen = key;
    if (key === null) this.#life.hide();
    else void this.#ask().then(() => this.#life.node.scrollIntoView({ block: "nearest" }));
  }

  #explainNothing(why: string): void {
    this.#empty.hidden = why === "";
    if (why !== "") explain(this.#empty, why);
  }
}

function isUsed({ requests }: LiveMessage): boolean {
  return requests.asked > 0 || requests.open > 0;
}

/** What the broker answers; null if it does not. */
async function answer(path: string): Promise<{ ok: boolean; text: string } | null> {
  try {
    const response = await fetch(path);
    return { ok: response.ok, text: await response.text() };
  } catch {
    return null;
  }
}
