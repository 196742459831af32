// A table whose rows are kept by a key: a row moves rather than being made again, and only changed cells are written.
import { NameColumn, setName } from "./name-column.ts";
import { element, setText } from "./page.ts";

interface Row {
  key: string;
  cells: string[];
}

export class KeyedRows {
  readonly table: HTMLTableElement;
  readonly #name: string;
  readonly #body: HTMLTableSectionElement;
  readonly #heads: HTMLTableCellElement[];
  readonly #names = new Map<number, NameColumn>();
  readonly #rows = new Map<string, HTMLTableRowElement>();

  /**
   * Columns are those of the table's head; `name` is the data attribute that carries a row's key. `names` are the columns
   * that have names, which are shortened in the middle.
   */
  constructor(table: HTMLTableElement, name: string, names: number[] = []) {
    this.table = table;
    this.#name = name;
    this.#body = table.tBodies[0] ?? table.createTBody();
    this.#heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    for (const column of names) {
      const head = this.#heads[column];
      if (head) this.#names.set(column, new NameColumn(head, table));
    }
  }

  /** Shows these rows in this order, and gives their elements. */
  render(rows: Row[]): HTMLTableRowElement[] {
    this.table.hidden = rows.length === 0;
    this.#forgetAllBut(new Set(rows.map(({ key }) => key)));
    const short = new Map(
      [...this.#names].map(([column, names]) => [column, names.shortened(rows.map(({ cells }) => cells[column] ?? ""))]),
    );
    return rows.map((row, index) => this.#place(row, index, short));
  }

  #forgetAllBut(present: Set<string>): void {
    for (const [key, row] of this.#rows) {
      if (present.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
  }

  #place({ key, cells }: Row, index: number, short: ReadonlyMap<number, readonly string[]>): HTMLTableRowElement {
    const row = this.#rows.get(key) ?? this.#admit(key);
    if (this.#body.rows[index] !== row) this.#move(row, index);
    cells.forEach((text, column) => {
      const cell = row.cells[column];
      if (!cell) return;
      const name = short.get(column)?.[index];
      if (name === undefined) setText(cell, text);
      else setName(cell, text, name);
    });
    return row;
  }

  /** A row that has the focus keeps it wherever it goes. */
  #move(row: HTMLTableRowElement, index: number): void {
    const focused = row.contains(document.activeElement) ? document.activeElement : null;
    this.#body.insertBefore(row, this.#body.rows[index] ?? null);
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  #admit(key: string): HTMLTableRowElement {
    const row = element("tr");
    row.role = "row";
    row.dataset[this.#name] = key;
    row.append(...this.#heads.map((head, column) => cellBelow(head, column, this.#names.has(column))));
    this.#rows.set(key, row);
    return row;
  }
}

/** The first column names the row; the label is shown on a narrow screen, where a row becomes a card. */
function cellBelow(head: HTMLTableCellElement, column: number, isName: boolean): HTMLTableCellElement {
  const made = element(column === 0 ? "th" : "td", isName ? `${head.className} name` : head.className);
  made.role = column === 0 ? "rowheader" : "cell";
  made.dataset["label"] = head.textContent.trim();
  return made;
}
