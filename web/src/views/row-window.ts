// Many records, few rows: only those in view exist. Keyboard and pointer choose one.
import { RowCursor } from "./row-cursor.ts";

const ROWS_BEYOND_VIEW = 4;
/** The view is reported in whole steps of rows, with one step more at each edge: short scrolling sends nothing. */
const VIEW_STEP = 10;

export interface Named {
  readonly topic: string;
}

export interface WindowRow<R extends Named> {
  readonly root: HTMLElement;
  readonly record: R | null;
}

export interface RowWindowOptions<R extends Named, W extends WindowRow<R>> {
  scroll: HTMLElement;
  sizer: HTMLElement;
  make: () => W;
  draw: (row: W, record: R, index: number, active: boolean) => void;
  chosen: (record: R) => void;
  /** Asks for a render soon: the view moved. */
  moved: () => void;
}

export class RowWindow<R extends Named, W extends WindowRow<R>> {
  readonly #options: RowWindowOptions<R, W>;
  readonly #cursor: RowCursor<R>;
  readonly #rows: W[] = [];
  #records: R[] = [];
  #row_height = 30;
  #is_on_screen = true;

  constructor(options: RowWindowOptions<R, W>) {
    this.#options = options;
    const rows = () => this.#records;
    this.#cursor = new RowCursor(options.scroll, { rows, rowHeight: () => this.#row_height, ...options });
    options.scroll.addEventListener("scroll", options.moved, { passive: true });
    options.sizer.addEventListener("click", (event) => this.#clicked(event));
    new ResizeObserver(() => this.#measure()).observe(options.scroll);
    new IntersectionObserver((seen) => {
      this.#is_on_screen = seen.at(-1)?.isIntersecting ?? true;
      options.moved();
    }).observe(options.scroll);
    this.#measure();
  }

  get length(): number {
    return this.#records.length;
  }

  /** The rows that a person may see, and some more; none while the table is off the screen. */
  get view(): { first: number; count: number } {
    if (!this.#is_on_screen) return { first: 0, count: 0 };
    const { scrollTop, clientHeight } = this.#options.scroll;
    const top = Math.floor(scrollTop / this.#row_height / VIEW_STEP) * VIEW_STEP;
    const first = Math.max(0, top - VIEW_STEP);
    const seen = Math.ceil(clientHeight / this.#row_height / VIEW_STEP) * VIEW_STEP;
    const end = Math.min(this.#records.length, top + seen + 2 * VIEW_STEP);
    return { first, count: Math.max(0, end - first) };
  }

  /** Replaces the records. */
  show(records: R[]): void {
    this.#records = records;
    this.#options.scroll.ariaRowCount = String(records.length + 1);
    this.#fitHeight();
  }

  toTop(): void {
    this.#options.scroll.scrollTop = 0;
    this.#options.moved();
  }

  render(): void {
    const { scroll, sizer, draw } = this.#options;
    const first = Math.max(0, Math.floor(scroll.scrollTop / this.#row_height) - ROWS_BEYOND_VIEW);
    const wanted = Math.ceil(scroll.clientHeight / this.#row_height) + 2 * ROWS_BEYOND_VIEW;
    const visible = this.#records.slice(first, first + wanted);
    this.#fitRows(visible.length);
    visible.forEach((record, slot) => {
      const row = this.#rows[slot];
      if (row) draw(row, record, first + slot, this.#cursor.isAt(record.topic));
    });
    sizer.style.paddingTop = `${first * this.#row_height}px`;
    this.#cursor.announce(this.#rows);
  }

  #fitRows(amount: number): void {
    while (this.#rows.length > amount) this.#rows.pop()?.root.remove();
    while (this.#rows.length < amount) {
      const row = this.#options.make();
      this.#rows.push(row);
      this.#options.sizer.append(row.root);
    }
  }

  #clicked(event: MouseEvent): void {
    if (document.getSelection()?.isCollapsed === false) return; // A person marks text to copy it.
    const row = this.#rows.find(({ root }) => root.contains(event.target as Node));
    if (!row?.record) return;
    this.#cursor.moveTo(row.record.topic);
    this.#options.chosen(row.record);
    this.#options.moved();
  }

  #fitHeight(): void {
    this.#options.sizer.style.height = `${this.#records.length * this.#row_height}px`;
  }

  #measure(): void {
    const height = Number.parseFloat(getComputedStyle(this.#options.scroll).getPropertyValue("--row-height"));
    if (height > 0) this.#row_height = height;
    this.#fitHeight();
    this.#options.moved();
  }
}
