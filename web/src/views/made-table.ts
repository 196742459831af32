// Makes a table like those of index.html, for panels that make their own parts.
import { element } from "./page.ts";

/** A head that begins with + is that of a column of numbers. */
export function madeTable(id: string, label: string, heads: string[]): { scroll: HTMLElement; table: HTMLTableElement } {
  const table = element("table");
  table.id = id;
  table.role = "table";
  table.ariaLabel = label;
  const row = element("tr");
  row.role = "row";
  row.append(...heads.map(headCell));
  const head = table.createTHead();
  head.role = "rowgroup";
  head.append(row);
  table.createTBody().role = "rowgroup";
  const scroll = element("div", "table-scroll");
  scroll.tabIndex = 0;
  scroll.role = "region";
  scroll.ariaLabel = label;
  scroll.append(table);
  return { scroll, table };
}

function headCell(head: string): HTMLTableCellElement {
  const made = element("th", head.startsWith("+") ? "number" : "", head.replace(/^\+/, ""));
  made.scope = "col";
  made.role = "columnheader";
  return made;
}
