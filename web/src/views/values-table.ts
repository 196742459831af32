// The newest values, thousands of topics long: only the rows in view exist. Keyboard and pointer choose a row.
import type { ConsoleState } from "../model/console-state.ts";
import { topicTest } from "../model/topic-filter.ts";
import type { TopicRecord, ValueStore } from "../model/value-store.ts";
import { count } from "../model/wording.ts";
import { explainNoMatch, explainNoValues } from "./empty-states.ts";
import { part, setText } from "./page.ts";
import { RowCursor } from "./row-cursor.ts";
import { ValueRow } from "./value-row.ts";

const ROWS_BEYOND_VIEW = 4;

export interface ValuesTableActions {
  isPinned: (topic: string) => boolean;
  toggle: (record: TopicRecord) => void;
  /** Asks for a render soon: the view moved. */
  moved: () => void;
}

export class ValuesTable {
  readonly #actions: ValuesTableActions;
  readonly #scroll = part("values-scroll");
  readonly #sizer = part("values-sizer");
  readonly #filter = part<HTMLInputElement>("values-filter");
  readonly #count = part("values-count");
  readonly #empty = part("values-empty");
  readonly #rows: ValueRow[] = [];
  readonly #cursor: RowCursor;
  #selected: TopicRecord[] = [];
  #selectedFor = "";
  #row_height = 30;

  constructor(actions: ValuesTableActions) {
    this.#actions = actions;
    const shown = { rows: () => this.#selected, rowHeight: () => this.#row_height };
    this.#cursor = new RowCursor(this.#scroll, { ...shown, ...actions });
    this.#filter.addEventListener("input", () => this.#refiltered());
    this.#scroll.addEventListener("scroll", actions.moved, { passive: true });
    this.#sizer.addEventListener("click", (event) => this.#clicked(event));
    new ResizeObserver(() => this.#measure()).observe(this.#scroll);
    this.#measure();
  }

  render(state: ConsoleState, now_ms: number): void {
    this.#select(state.values);
    this.#renderCount(state);
    this.#renderEmpty(state);
    this.#renderRows(now_ms);
  }

  #select(values: ValueStore): void {
    const key = `${values.revision} ${this.#filter.value}`;
    if (key === this.#selectedFor) return;
    this.#selectedFor = key;
    this.#selected = values.select(topicTest(this.#filter.value));
    this.#sizer.style.height = `${this.#selected.length * this.#row_height}px`;
    this.#scroll.ariaRowCount = String(this.#selected.length + 1);
  }

  #renderCount(state: ConsoleState): void {
    const total = state.latest?.topics_total ?? 0;
    const shown = this.#selected.length;
    setText(this.#count, shown === total ? "" : `showing ${count(shown)} of ${count(total)}`);
  }

  #renderEmpty(state: ConsoleState): void {
    const nothing = this.#selected.length === 0;
    this.#scroll.hidden = nothing;
    this.#empty.hidden = !nothing;
    if (!nothing) return;
    if (state.values.size > 0) explainNoMatch(this.#empty);
    else explainNoValues(this.#empty, state.latest);
  }

  #renderRows(now_ms: number): void {
    const first = Math.max(0, Math.floor(this.#scroll.scrollTop / this.#row_height) - ROWS_BEYOND_VIEW);
    const wanted = Math.ceil(this.#scroll.clientHeight / this.#row_height) + 2 * ROWS_BEYOND_VIEW;
    const visible = this.#selected.slice(first, first + wanted);
    this.#fitRows(visible.length);
    visible.forEach((record, slot) => {
      const index = first + slot;
      const pinned = this.#actions.isPinned(record.topic);
      const active = this.#cursor.isAt(record.topic);
      this.#rows[slot]?.render(record, { index, now_ms, pinned, active });
    });
    this.#sizer.style.paddingTop = `${first * this.#row_height}px`;
    this.#cursor.announce(this.#rows);
  }

  #fitRows(amount: number): void {
    while (this.#rows.length > amount) this.#rows.pop()?.root.remove();
    while (this.#rows.length < amount) {
      const row = new ValueRow();
      this.#rows.push(row);
      this.#sizer.append(row.root);
    }
  }

  #refiltered(): void {
    this.#scroll.scrollTop = 0;
    this.#actions.moved();
  }

  #clicked(event: MouseEvent): void {
    if (document.getSelection()?.isCollapsed === false) return; // A person marks text to copy it.
    const row = this.#rows.find(({ root }) => root.contains(event.target as Node));
    if (!row?.record) return;
    this.#cursor.moveTo(row.record.topic);
    this.#actions.toggle(row.record);
    this.#actions.moved();
  }

  #measure(): void {
    const height = Number.parseFloat(getComputedStyle(this.#scroll).getPropertyValue("--row-height"));
    if (height > 0) this.#row_height = height;
    this.#selectedFor = "";
    this.#actions.moved();
  }
}
