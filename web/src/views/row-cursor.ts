// The row the keyboard is at in a table. It follows its topic when rows come and go around it.
import type { Named, WindowRow } from "./row-window.ts";

interface CursorContext<R extends Named> {
  rows: () => R[];
  rowHeight: () => number;
  chosen: (record: R) => void;
  moved: () => void;
}

export class RowCursor<R extends Named> {
  readonly #scroll: HTMLElement;
  readonly #context: CursorContext<R>;
  #topic: string | null = null;

  constructor(scroll: HTMLElement, context: CursorContext<R>) {
    this.#scroll = scroll;
    this.#context = context;
    scroll.addEventListener("keydown", (event) => this.#pressed(event));
  }

  isAt(topic: string): boolean {
    return this.#topic === topic;
  }

  moveTo(topic: string): void {
    this.#topic = topic;
  }

  /** Tells assistive technology which of the existing rows the cursor is at. */
  announce(rows: WindowRow<R>[]): void {
    const row = rows.find(({ record }) => record?.topic === this.#topic);
    if (row) this.#scroll.setAttribute("aria-activedescendant", row.root.id);
    else this.#scroll.removeAttribute("aria-activedescendant");
  }

  #pressed(event: KeyboardEvent): void {
    const rows = this.#context.rows();
    const at = rows.findIndex(({ topic }) => topic === this.#topic);
    const current = rows[at];
    const target = this.#targetOf(event.key, at, rows.length);
    if (target !== null) this.#goTo(Math.max(0, Math.min(rows.length - 1, target)), rows);
    else if (event.key === "Enter" && current) this.#context.chosen(current);
    else return;
    event.preventDefault();
    this.#context.moved();
  }

  #targetOf(key: string, at: number, length: number): number | null {
    const page = Math.max(1, Math.floor(this.#scroll.clientHeight / this.#context.rowHeight()) - 2);
    const targets: [string, number][] = [
      ["ArrowDown", at + 1],
      ["ArrowUp", at - 1],
      ["PageDown", at + page],
      ["PageUp", at - page],
      ["Home", 0],
      ["End", length - 1],
    ];
    return targets.find(([name]) => name === key)?.[1] ?? null;
  }

  #goTo(index: number, rows: R[]): void {
    this.#topic = rows[index]?.topic ?? null;
    const height = this.#context.rowHeight();
    const top = index * height;
    // The sticky row of column names covers one row's height at the top.
    const view_bottom = this.#scroll.scrollTop + this.#scroll.clientHeight - height;
    if (top < this.#scroll.scrollTop) this.#scroll.scrollTop = top;
    else if (top + height > view_bottom) this.#scroll.scrollTop += top + height - view_bottom;
  }
}
