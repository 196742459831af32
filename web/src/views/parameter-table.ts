// The table of parameters: as many rows as there are, but elements only for those in view. Keyboard and pointer choose one.
import type { ParameterSample } from "../model/contract.ts";
import type { ParameterRecord, ParameterStore } from "../model/parameter-store.ts";
import { asked, drawn, type Place, rowsFor, scrolledTo, type Span, tableHeight } from "../model/row-span.ts";
import { shortNames } from "../model/short-name.ts";
import type { Series } from "../model/value-history.ts";
import { legible } from "../model/wording.ts";
import { element, setText } from "./page.ts";
import { ParameterRow } from "./parameter-row.ts";

/** The columns, and what the broker sorts by each. */
const COLUMNS: readonly [title: string, sort: string | null][] = [
  ["", null],
  ["Parameter", "name"],
  ["Value", null],
  ["Unit", null],
  ["Age", "age"],
  ["Rate", "rate"],
  ["State", "state"],
  ["Last minute", null],
];

/** What the table asks of the page around it. */
export interface TableActions {
  readonly opened: (record: ParameterRecord) => void;
  readonly marked: (name: string) => void;
  readonly sorted: (by: string) => void;
  /** Asks for a drawing: the view moved. */
  readonly moved: () => void;
}

/** What is drawn besides the rows themselves. */
export interface Drawing {
  readonly at_ms: number;
  readonly sort: string;
  readonly open: string | null;
  readonly isFavourite: (name: string) => boolean;
  readonly sampleOf: (record: ParameterRecord) => ParameterSample | null;
  readonly lineOf: (record: ParameterRecord) => Series;
}

export class ParameterTable {
  readonly scroll = element("div", "rows-scroll");
  readonly #store: ParameterStore;
  readonly #actions: TableActions;
  readonly #sizer = element("div", "rows-sizer");
  readonly #heads: HTMLElement[] = [];
  readonly #rows: ParameterRow[] = [];
  readonly #pen = document.createElement("canvas").getContext("2d");
  #row_height = 34;
  #is_on_screen = true;
  /** The row that the keyboard is at; -1 before it was used. */
  #cursor = -1;
  #room = 40;
  #names = new Map<string, string>();
  #named = "";

  constructor(store: ParameterStore, actions: TableActions) {
    this.#store = store;
    this.#actions = actions;
    this.scroll.id = "parameters-scroll";
    this.#sizer.id = "parameters-sizer";
    this.#sizer.role = "rowgroup";
    Object.assign(this.scroll, { role: "grid", tabIndex: 0, ariaReadOnly: "true" });
    this.scroll.setAttribute("aria-labelledby", "parameters-title");
    this.scroll.setAttribute("aria-describedby", "parameters-keys");
    this.scroll.append(this.#head(), this.#sizer);
    this.scroll.addEventListener("scroll", actions.moved, { passive: true });
    this.scroll.addEventListener("keydown", (event) => this.#pressed(event));
    this.#sizer.addEventListener("click", (event) => this.#clicked(event));
    new ResizeObserver(() => this.#measure()).observe(this.scroll);
    new IntersectionObserver((seen) => {
      this.#is_on_screen = seen.at(-1)?.isIntersecting ?? true;
      actions.moved();
    }).observe(this.scroll);
  }

  /** The rows that the broker is asked for; none while nobody sees the table. */
  get asked(): Span {
    return this.#is_on_screen ? asked(this.#place) : { first: 0, count: 0 };
  }

  /** The parameters whose rows exist. */
  get inView(): ParameterRecord[] {
    return this.#rows.map(({ record }) => record).filter((record) => record !== null);
  }

  toTop(): void {
    this.#cursor = -1;
    this.scroll.scrollTop = 0;
  }

  render(drawing: Drawing): void {
    const place = this.#place;
    this.scroll.ariaRowCount = String(place.total + 1);
    this.#sizer.style.height = `${tableHeight(place.row_height, place.total)}px`;
    this.#renderHeads(drawing.sort);
    const { first, count, top } = drawn(place);
    this.#fit(Math.min(rowsFor(place.view_height, place.row_height), place.total));
    this.#shorten();
    // A row keeps its element while it is in view, so that scrolling by one row writes one row.
    const amount = this.#rows.length;
    for (let at = 0; at < count; at += 1) {
      const row = this.#rows[(first + at) % amount];
      if (row) this.#draw(row, first + at, top + at * place.row_height, drawing);
    }
    for (let at = count; at < amount; at += 1) this.#rows[(first + at) % amount]?.root.setAttribute("hidden", "");
    const active = this.#cursor >= first && this.#cursor < first + count;
    if (active) this.scroll.setAttribute("aria-activedescendant", `parameter-row-${this.#cursor}`);
    else this.scroll.removeAttribute("aria-activedescendant");
  }

  get #place(): Place {
    const { scrollTop, clientHeight } = this.scroll;
    const view = { scroll_top: scrollTop, view_height: clientHeight };
    return { ...view, row_height: this.#row_height, total: this.#store.total };
  }

  #draw(row: ParameterRow, at: number, top: number, drawing: Drawing): void {
    const record = this.#store.at(at);
    const is_active = at === this.#cursor;
    const moved = `translateY(${top}px)`;
    row.root.removeAttribute("hidden");
    if (row.root.style.transform !== moved) row.root.style.transform = moved;
    if (!record) return row.renderNothing(at, is_active);
    row.render({
      record,
      row: at,
      name: this.#names.get(record.topic) ?? legible(record.topic),
      sample: drawing.sampleOf(record),
      line: drawing.lineOf(record),
      is_favourite: drawing.isFavourite(record.topic),
      is_active,
      is_open: record.topic === drawing.open,
      at_ms: drawing.at_ms,
    });
  }

  /** Names of all rows that are here are shortened together, so that no two of them look the same. */
  #shorten(): void {
    const key = `${this.#store.revision} ${this.#room}`;
    if (key === this.#named) return;
    this.#named = key;
    const names = this.#store.rows.map(({ topic }) => topic);
    const short = shortNames(names.map(legible), this.#room);
    this.#names = new Map(names.map((name, at) => [name, short[at] ?? name]));
  }

  #fit(amount: number): void {
    while (this.#rows.length > amount) this.#rows.pop()?.root.remove();
    if (this.#rows.length === amount) return;
    while (this.#rows.length < amount) {
      const row = new ParameterRow();
      this.#rows.push(row);
      this.#sizer.append(row.root);
    }
    this.#measure();
  }

  #measure(): void {
    const height = Number.parseFloat(getComputedStyle(this.scroll).getPropertyValue("--row-height"));
    if (height > 0) this.#row_height = height;
    const [row] = this.#rows;
    if (row && this.#pen && row.nameWidth > 0) {
      this.#pen.font = row.nameFont;
      this.#room = Math.floor(row.nameWidth / (this.#pen.measureText("0".repeat(20)).width / 20));
    }
    this.#actions.moved();
  }

  #clicked(event: MouseEvent): void {
    if (document.getSelection()?.isCollapsed === false) return; // A person marks text to copy it.
    const row = this.#rows.find(({ root }) => root.contains(event.target as Node));
    if (!row?.record) return;
    this.#cursor = this.#store.rowOf(row.record.topic);
    if (row.isStar(event.target)) this.#actions.marked(row.record.topic);
    else this.#actions.opened(row.record);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.target !== this.scroll || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = this.#targetOf(event.key);
    const record = this.#store.at(this.#cursor);
    if (target !== null) this.#goTo(Math.max(0, Math.min(this.#store.total - 1, target)));
    else if (event.key === "Enter" && record) this.#actions.opened(record);
    else if (event.key === "f" && record) this.#actions.marked(record.topic);
    else return;
    event.preventDefault();
    this.#actions.moved();
  }

  #targetOf(key: string): number | null {
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / this.#row_height) - 2);
    const targets: Record<string, number> = {
      ArrowDown: this.#cursor + 1,
      ArrowUp: this.#cursor - 1,
      PageDown: this.#cursor + page,
      PageUp: this.#cursor - page,
      Home: 0,
      End: this.#store.total - 1,
    };
    return targets[key] ?? null;
  }

  #goTo(row: number): void {
    this.#cursor = row;
    this.scroll.scrollTop = scrolledTo(this.#place, row);
  }

  #head(): HTMLElement {
    const head = element("div", "value-row value-columns parameter-row");
    head.role = "row";
    head.ariaRowIndex = "1";
    for (const [title, sort] of COLUMNS) {
      const made = element("span", title ? `cell-${title.split(" ")[0]?.toLowerCase()}` : "cell-star");
      made.role = "columnheader";
      if (sort === null) setText(made, title);
      else made.append(this.#sorter(title, sort));
      if (title === "") made.ariaLabel = "Favourite";
      this.#heads.push(made);
      head.append(made);
    }
    return head;
  }

  #sorter(title: string, sort: string): HTMLElement {
    const button = element("button", "sorter", title);
    button.type = "button";
    button.addEventListener("click", () => this.#actions.sorted(sort));
    return button;
  }

  #renderHeads(sort: string): void {
    COLUMNS.forEach(([, by], at) => {
      const head = this.#heads[at];
      if (!head || by === null) return;
      const wanted = sort === by ? "ascending" : sort === `-${by}` ? "descending" : "none";
      if (head.ariaSort !== wanted) head.ariaSort = wanted;
    });
  }
}
