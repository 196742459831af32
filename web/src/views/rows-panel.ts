// A panel of many rows: a head with a search box, columns, the rows in view, and a text when there are none.
import { element, part, setText } from "./page.ts";
import { RowWindow, type Named, type RowWindowOptions, type WindowRow } from "./row-window.ts";

interface PanelWords {
  /** That of its section in index.html; its parts are `ID-title`, `ID-count`, `ID-search` and so on. */
  id: string;
  title: string;
  search: string;
  placeholder: string;
  /** Class of the row of their names, beside those that every panel has. */
  columnsClass?: string;
  columns: string[];
  keys: string;
}

type RowsOptions<R extends Named, W extends WindowRow<R>> = Omit<RowWindowOptions<R, W>, "scroll" | "sizer">;

export class RowsPanel<R extends Named, W extends WindowRow<R>> {
  readonly search = element("input");
  readonly #id: string;
  readonly #scroll = element("div", "rows-scroll");
  readonly #count = element("p", "note");
  readonly #detail = element("p", "detail");
  readonly #empty = element("div", "empty");
  readonly #rows: RowWindow<R, W>;

  constructor(words: PanelWords, options: RowsOptions<R, W>) {
    this.#id = words.id;
    const sizer = this.#named(element("div", "rows-sizer"), "sizer");
    sizer.role = "rowgroup";
    this.#scroll.append(columns(words), sizer);
    this.#count.role = this.#detail.role = "status";
    this.#detail.hidden = this.#empty.hidden = true;
    const keys = this.#named(element("p", "unseen", words.keys), "keys");
    this.#named(this.#detail, "detail");
    this.#named(this.#empty, "empty");
    part(words.id).append(this.#head(words), this.#grid(), this.#detail, this.#empty, keys);
    this.#rows = new RowWindow({ ...options, scroll: this.#scroll, sizer });
    this.search.addEventListener("input", () => this.#rows.toTop());
  }

  /** The head of the first column, which has names; it has no width where columns become lines. */
  get nameHead(): HTMLElement {
    return this.#scroll.firstElementChild?.firstElementChild as HTMLElement;
  }

  get body(): HTMLElement {
    return this.#scroll;
  }

  get length(): number {
    return this.#rows.length;
  }

  /** The rows that a person may see. */
  get view(): { first: number; count: number } {
    return this.#rows.view;
  }

  show(records: R[]): void {
    this.#rows.show(records);
  }

  /** `explainNothing` writes what is shown in place of rows when there are none. */
  render(extent: string, explainNothing: (node: HTMLElement) => void): void {
    setText(this.#count, extent);
    const nothing = this.length === 0;
    this.#scroll.hidden = nothing;
    this.#empty.hidden = !nothing;
    if (nothing) {
      this.#detail.hidden = true;
      explainNothing(this.#empty);
    }
    this.#rows.render();
  }

  /** Describes one row in words, so that keyboard users get what a pointer finds in titles. */
  describe(text: string): void {
    this.#detail.hidden = false;
    setText(this.#detail, text);
  }

  /** Adds a further note to the head. */
  note(name: string): HTMLElement {
    const made = this.#named(element("p", "note"), name);
    this.search.before(made);
    return made;
  }

  #head({ title, search, placeholder }: PanelWords): HTMLElement {
    const heading = this.#named(element("h2", "", title), "title");
    heading.tabIndex = -1;
    Object.assign(this.search, { type: "search", placeholder, autocomplete: "off", autocapitalize: "off" });
    this.search.spellcheck = false;
    this.search.ariaLabel = search;
    const head = element("div", "panel-head");
    head.append(heading, this.#named(this.#count, "count"), this.#named(this.search, "search"));
    return head;
  }

  #grid(): HTMLElement {
    const grid = this.#named(this.#scroll, "scroll");
    grid.role = "grid";
    grid.tabIndex = 0;
    grid.ariaReadOnly = "true";
    grid.setAttribute("aria-labelledby", `${this.#id}-title`);
    grid.setAttribute("aria-describedby", `${this.#id}-keys`);
    return grid;
  }

  #named<E extends HTMLElement>(node: E, name: string): E {
    node.id = `${this.#id}-${name}`;
    return node;
  }
}

function columns({ columns, columnsClass = "" }: PanelWords): HTMLElement {
  const row = element("div", `value-row value-columns ${columnsClass}`);
  row.role = "row";
  row.ariaRowIndex = "1";
  for (const name of columns) row.append(column(name));
  return row;
}

function column(name: string): HTMLElement {
  const made = element("span", "", name);
  made.role = "columnheader";
  return made;
}

/** A cell of a row, found by its field. */
export function cell(field: string): HTMLSpanElement {
  const made = element("span", `cell-${field}`);
  made.role = "gridcell";
  made.dataset["field"] = field;
  return made;
}
