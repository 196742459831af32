// A table whose rows are kept by a key: a row moves rather than being made again, and only changed cells are written.
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
  readonly #rows = new Map<string, HTMLTableRowElement>();

  /** Columns are those of the table's head; `name` is the data attribute that carries a row's key. */
  constructor(table: HTMLTableElement, name: string) {
    this.table = table;
    this.#name = name;
    this.#body = table.tBodies[0] ?? table.createTBody();
    this.#heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  }

  /** Shows these rows in this order, and gives their elements. */
  render(rows: Row[]): HTMLTableRowElement[] {
    this.table.hidden = rows.length === 0;
    this.#forgetAllBut(new Set(rows.map(({ key }) => key)));
    return rows.map((row, index) => this.#place(row, index));
  }

  #forgetAllBut(present: Set<string>): void {
    for (const [key, row] of this.#rows) {
      if (present.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
  }

  #place({ key, cells }: Row, index: number): HTMLTableRowElement {
    const row = this.#rows.get(key) ?? this.#admit(key);
    if (this.#body.rows[index] !== row) this.#body.insertBefore(row, this.#body.rows[index] ?? null);
    cells.forEach((text, column) => {
      const cell = row.cells[column];
      if (cell) setText(cell, text);
    });
    return row;
  }

  #admit(key: string): HTMLTableRowElement {
    const row = element("tr");
    row.role = "row";
    row.dataset[this.#name] = key;
    row.append(...this.#heads.map(cellBelow));
    this.#rows.set(key, row);
    return row;
  }
}

/** The first column names the row; the label is shown on a narrow screen, where a row becomes a card. */
function cellBelow(head: HTMLTableCellElement, column: number): HTMLTableCellElement {
  const made = element(column === 0 ? "th" : "td", head.className);
  made.role = column === 0 ? "rowheader" : "cell";
  made.dataset["label"] = head.textContent.trim();
  return made;
}
