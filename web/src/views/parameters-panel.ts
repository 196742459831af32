// Parameters: a search with its filters, the tree of names, the table, and the drawer of one. The broker searches and sorts;
// the page holds what is in view.
import { fetchText } from "../console-request.ts";
import { type LiveMessage, WordsMessage } from "../model/contract.ts";
import { Favourites } from "../model/favourites.ts";
import type { ParameterStore } from "../model/parameter-store.ts";
import { extent, inflow } from "../model/parameter-wording.ts";
import { RowsPast } from "../model/rows-past.ts";
import { branchOf, withBranch } from "../model/search-words.ts";
import { parse } from "../model/shape.ts";
import type { TimeControl } from "../model/time-control.ts";
import { explainNoMatch, explainNoParameters } from "./empty-states.ts";
import { element, explain, part, setData, setText } from "./page.ts";
import { ParameterDrawer } from "./parameter-drawer.ts";
import { ParameterFilters } from "./parameter-filters.ts";
import { ParameterTable } from "./parameter-table.ts";
import { ParameterTree } from "./parameter-tree.ts";

/** Between two requests while a person scrolls: the broker answers each within a tenth of a second. */
const REQUEST_MS = 60;
const KEYS = "Arrow keys choose a row, Enter shows its details, F marks it as a favourite, Escape closes the details.";

/** What the page asks the broker for. */
export interface ParametersRequest {
  search: string;
  sort: string;
  first: number;
  count: number;
  names: readonly string[];
  only_names: boolean;
}

interface ParametersActions {
  /** Called whenever the request changes. */
  request: (request: ParametersRequest) => void;
  moved: () => void;
  /** Whether the visitor may watch everything. */
  watchesAll: () => boolean;
}

export class ParametersPanel {
  readonly #store: ParameterStore;
  readonly #actions: ParametersActions;
  readonly #favourites = new Favourites(storage());
  readonly #filters: ParameterFilters;
  readonly #tree: ParameterTree;
  readonly #table: ParameterTable;
  readonly #drawer: ParameterDrawer;
  readonly #past: RowsPast;
  readonly #body = element("div", "parameters-body");
  readonly #names = element("button", "names-button", "Names");
  readonly #count = element("p", "note");
  readonly #inflow = element("p", "note");
  readonly #problem = element("p", "problem");
  readonly #empty = element("div", "empty");
  #sent = "";
  #sent_at_ms = 0;
  #words_of = -1;

  constructor(store: ParameterStore, actions: ParametersActions) {
    this.#store = store;
    this.#actions = actions;
    const { moved } = actions;
    this.#filters = new ParameterFilters(() => this.#searched());
    this.#tree = new ParameterTree((path, is_parameter) => this.#chosen(path, is_parameter));
    this.#table = new ParameterTable(store, {
      opened: ({ topic }) => this.#open(topic),
      marked: (name) => this.#mark(name),
      sorted: (by) => this.#sortBy(by),
      moved,
    });
    this.#drawer = new ParameterDrawer({
      get: fetchText,
      closed: () => this.#close(),
      marked: (name) => this.#mark(name),
      changed: moved,
      watchesAll: actions.watchesAll,
    });
    this.#past = new RowsPast(store, fetchText, moved);
    this.#build();
  }

  /** What the broker is asked for in the address of a new connection. */
  get query(): string {
    const { search, sort } = this.#filters;
    return new URLSearchParams({ search: search.value, sort, count: "50" }).toString();
  }

  /** Sends the request again: the broker forgets it when the connection ends. */
  sendAgain(): void {
    this.#sent = "";
  }

  /** Takes what the address says: a search, an order, a parameter that is open. */
  follow(query: URLSearchParams): void {
    const search = query.get("search") ?? "";
    if (search !== this.#filters.search.value) this.#filters.set(search);
    this.#filters.sort = query.get("sort") ?? "name";
    this.#filters.use = query.get("favourites") ?? "";
    const name = query.get("parameter");
    if (name === null) this.#drawer.close();
    else this.#drawer.open(name);
    this.#actions.moved();
  }

  render(latest: LiveMessage | null, time: TimeControl, now_ms: number): void {
    const local_ms = performance.now();
    const told = this.#store.latest;
    const is_live = time.mode === "live";
    if (told) this.#fetchWords(told.parameters);
    setText(this.#inflow, latest && is_live ? inflow(latest.table) : "");
    setText(this.#count, extent(told) + (is_live ? "" : " · values of an earlier time"));
    setText(this.#problem, told?.problem ?? "");
    setData(this.#body, "time", time.mode);
    this.#renderEmpty(latest);
    this.#tree.render(branchOf(this.#filters.search.value), told?.parameters ?? 0);
    this.#past.follow(this.#table.inView, time, now_ms, local_ms);
    this.#table.render({
      at_ms: time.shown(now_ms),
      sort: this.#filters.sort,
      open: this.#drawer.shown,
      isFavourite: (name) => this.#favourites.has(name),
      sampleOf: (record) => this.#past.sampleOf(record, time),
      lineOf: (record) => this.#past.lineOf(record, time),
    });
    const name = this.#drawer.shown;
    setData(this.#body, "drawer", name === null ? "closed" : "open");
    this.#drawer.render(this.#store, time, name !== null && this.#favourites.has(name), now_ms, local_ms);
    if (latest) this.#drawer.followAlarms(latest.alarms.revision);
    this.#request(local_ms);
  }

  #build(): void {
    const title = element("h2", "", "Parameters");
    Object.assign(title, { id: "parameters-title", tabIndex: -1 });
    Object.assign(this.#count, { id: "parameters-count", role: "status" });
    this.#inflow.id = "parameters-inflow";
    Object.assign(this.#problem, { id: "parameters-problem", role: "alert" });
    Object.assign(this.#empty, { id: "parameters-empty", hidden: true });
    Object.assign(this.#names, { type: "button", ariaExpanded: "false" });
    this.#names.setAttribute("aria-controls", "parameters-tree");
    this.#names.addEventListener("click", () => this.#showTree(this.#names.ariaExpanded !== "true"));
    const keys = element("p", "unseen", KEYS);
    keys.id = "parameters-keys";
    const head = element("div", "panel-head");
    head.append(title, this.#count, this.#inflow, this.#names, this.#filters.search);
    const table = element("div", "parameters-table");
    table.append(this.#table.scroll, this.#empty);
    this.#body.append(this.#tree.root, table, this.#drawer.root);
    part("parameters").append(head, this.#filters.root, this.#problem, this.#body, keys);
    this.#body.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#drawer.shown !== null) this.#close();
    });
  }

  #renderEmpty(latest: LiveMessage | null): void {
    const told = this.#store.latest;
    const is_empty = this.#store.total === 0;
    this.#table.scroll.hidden = is_empty;
    this.#empty.hidden = !is_empty;
    if (!is_empty) return;
    if (told === null || latest === null) explain(this.#empty, "Waiting for the broker.");
    else if (told.parameters > 0) explainNoMatch(this.#empty, "parameter");
    else explainNoParameters(this.#empty, latest);
  }

  #searched(): void {
    this.#table.toTop();
    this.#writeAddress(false);
    this.#actions.moved();
  }

  #chosen(path: string | null, is_parameter: boolean): void {
    if (path !== null && is_parameter) this.#open(path);
    else this.#filters.write(withBranch(this.#filters.search.value, path));
    if (path !== null) this.#showTree(false);
  }

  /** Only a narrow screen hides the tree. */
  #showTree(is_shown: boolean): void {
    this.#names.ariaExpanded = String(is_shown);
    setData(this.#body, "tree", is_shown ? "open" : "closed");
  }

  /** Once more on the same column turns the order round. */
  #sortBy(by: string): void {
    this.#filters.sort = this.#filters.sort === by ? `-${by}` : by;
    this.#searched();
  }

  #mark(name: string): void {
    this.#favourites.toggle(name);
    this.#actions.moved();
  }

  #open(name: string): void {
    this.#drawer.open(name);
    this.#writeAddress(true);
    this.#drawer.root.focus({ preventScroll: true });
  }

  #close(): void {
    this.#drawer.close();
    this.#writeAddress(false);
    this.#table.scroll.focus({ preventScroll: true });
    this.#actions.moved();
  }

  /** The address keeps what is shown, so that it can be sent to somebody. `is_step`: going back undoes it. */
  #writeAddress(is_step: boolean): void {
    const { search, sort, use } = this.#filters;
    const said = new URLSearchParams();
    if (search.value !== "") said.set("search", search.value);
    if (sort !== "name") said.set("sort", sort);
    if (use !== "") said.set("favourites", use);
    if (this.#drawer.shown !== null) said.set("parameter", this.#drawer.shown);
    const address = said.size > 0 ? `#/?${said}` : "#/";
    if (is_step) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }

  #request(local_ms: number): void {
    const { search, sort, use } = this.#filters;
    const names = use === "" ? [] : this.#favourites.names;
    const only_names = use === "only";
    // Without a favourite, only these are none: no parameter has an empty name.
    const wanted = only_names && names.length === 0 ? [""] : names;
    const request = { search: search.value, sort, ...this.#table.asked, names: wanted, only_names };
    const text = JSON.stringify(request);
    if (text === this.#sent) return;
    if (local_ms - this.#sent_at_ms < REQUEST_MS) return void window.setTimeout(this.#actions.moved, REQUEST_MS);
    this.#sent = text;
    this.#sent_at_ms = local_ms;
    this.#actions.request(request);
  }

  #fetchWords(parameters: number): void {
    if (this.#words_of === parameters) return;
    this.#words_of = parameters;
    void fetchText("api/parameters/words").then((text) => {
      if (text === null) return;
      const { units, publishers } = parse(WordsMessage, text);
      this.#filters.offer(units, publishers);
    });
  }
}

/** A browser may refuse to keep anything. */
function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
