// Parameters by search: the rows that the broker sends, and what is known of the one that a person chose.
import type { LiveMessage } from "../model/contract.ts";
import type { ParameterRecord, ParameterStore } from "../model/parameter-store.ts";
import { details, extent, inflow } from "../model/parameter-wording.ts";
import { legible } from "../model/wording.ts";
import { explainNoParameterMatches, explainNoParameters } from "./empty-states.ts";
import { explain, part, setText } from "./page.ts";
import { ParameterRow } from "./parameter-row.ts";
import { RowWindow } from "./row-window.ts";

/** What the broker takes at most. */
export const SEARCH_MAX = 1_000;

export interface ParametersActions {
  search: (text: string) => void;
  moved: () => void;
}

export class ParametersPanel {
  readonly #scroll = part("parameters-scroll");
  readonly #search = part<HTMLInputElement>("parameters-search");
  readonly #count = part("parameters-count");
  readonly #inflow = part("parameters-inflow");
  readonly #empty = part("parameters-empty");
  readonly #detail = part("parameters-detail");
  readonly #rows: RowWindow<ParameterRecord, ParameterRow>;
  #revision = -1;
  #now_ms = 0;

  constructor(actions: ParametersActions) {
    this.#search.maxLength = SEARCH_MAX;
    this.#rows = new RowWindow<ParameterRecord, ParameterRow>({
      scroll: this.#scroll,
      sizer: part("parameters-sizer"),
      make: () => new ParameterRow(),
      draw: (row, record, index, active) => row.render(record, index, active, this.#now_ms),
      chosen: (record) => this.#describe(record),
      moved: actions.moved,
    });
    this.#search.addEventListener("input", () => {
      this.#rows.toTop();
      actions.search(this.search);
    });
  }

  /** What a person looks for now. */
  get search(): string {
    return this.#search.value;
  }

  render(store: ParameterStore, latest: LiveMessage | null, now_ms: number): void {
    this.#now_ms = now_ms;
    if (this.#revision !== store.revision) this.#rows.show(store.rows);
    this.#revision = store.revision;
    setText(this.#count, extent(store.latest, this.#rows.length));
    setText(this.#inflow, latest ? inflow(latest.table) : "");
    this.#renderEmpty(store, latest);
    this.#rows.render();
  }

  #renderEmpty(store: ParameterStore, latest: LiveMessage | null): void {
    const nothing = this.#rows.length === 0;
    this.#scroll.hidden = nothing;
    this.#empty.hidden = !nothing;
    this.#search.disabled = store.latest !== null && store.latest.parameters === 0;
    if (!nothing) return;
    this.#detail.hidden = true;
    if (store.latest === null || latest === null) explain(this.#empty, "Waiting for the broker.");
    else if (store.latest.parameters > 0) explainNoParameterMatches(this.#empty);
    else explainNoParameters(this.#empty, latest);
  }

  /** In words, so that what a pointer finds in titles is there for the keyboard, too. */
  #describe({ definition }: ParameterRecord): void {
    this.#detail.hidden = false;
    setText(this.#detail, `${legible(definition.name)}: ${details(definition)}`);
  }
}
