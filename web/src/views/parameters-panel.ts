// Parameters by search: the rows that the broker sends, and the details of the chosen one.
import type { LiveMessage } from "../model/contract.ts";
import type { ParameterRecord, ParameterStore } from "../model/parameter-store.ts";
import { details, extent, inflow } from "../model/parameter-wording.ts";
import { legible } from "../model/wording.ts";
import { explainNoMatch, explainNoParameters } from "./empty-states.ts";
import { explain, setText } from "./page.ts";
import { ParameterRow } from "./parameter-row.ts";
import { RowsPanel } from "./rows-panel.ts";

/** What the broker takes at most. */
const SEARCH_MAX = 1_000;

const WORDS = {
  id: "parameters",
  title: "Parameters",
  search: "Search parameters",
  placeholder: "Search: rpm, or gripen/+/engine/#",
  columnsClass: "parameter-row",
  columns: ["Parameter", "Value", "Unit", "Age", "State", "Last minute"],
  keys: "Arrow keys choose a row, Enter shows its details.",
};

/** What the page asks the broker for: a search, and which of its rows are in view. */
interface SearchRequest {
  search: string;
  first: number;
  count: number;
}

interface ParametersActions {
  /** Called whenever the request changes. */
  request: (request: SearchRequest) => void;
  moved: () => void;
}

export class ParametersPanel {
  readonly #panel: RowsPanel<ParameterRecord, ParameterRow>;
  readonly #inflow: HTMLElement;
  readonly #send: (request: SearchRequest) => void;
  #sent = "";
  #revision = -1;
  #now_ms = 0;

  constructor({ request, moved }: ParametersActions) {
    this.#send = request;
    this.#panel = new RowsPanel<ParameterRecord, ParameterRow>(WORDS, {
      make: () => new ParameterRow(),
      draw: (row, record, index, active) => row.render(record, index, active, this.#now_ms),
      chosen: ({ definition }) => this.#panel.describe(`${legible(definition.name)}: ${details(definition)}`),
      moved,
    });
    this.#inflow = this.#panel.note("inflow");
    this.#panel.search.maxLength = SEARCH_MAX;
    this.#panel.search.addEventListener("input", () => this.#request());
  }

  /** Sends the request again: the broker forgets it when the connection ends. */
  sendAgain(): void {
    this.#sent = "";
  }

  /** The text in the search box. */
  get search(): string {
    return this.#panel.search.value;
  }

  render(store: ParameterStore, latest: LiveMessage | null, now_ms: number): void {
    this.#now_ms = now_ms;
    if (this.#revision !== store.revision) this.#panel.show(store.rows);
    this.#revision = store.revision;
    setText(this.#inflow, latest ? inflow(latest.table) : "");
    this.#panel.search.disabled = store.latest?.parameters === 0;
    this.#panel.render(extent(store.latest, this.#panel.length), (node) => {
      if (store.latest === null || latest === null) explain(node, "Waiting for the broker.");
      else if (store.latest.parameters > 0) explainNoMatch(node, "parameter");
      else explainNoParameters(node, latest);
    });
    this.#request();
  }

  #request(): void {
    const request = { search: this.search, ...this.#panel.view };
    const text = JSON.stringify(request);
    if (text === this.#sent) return;
    this.#sent = text;
    this.#send(request);
  }
}
