// The newest values of topics that are not parameters, thousands of them, filtered.
import type { ConsoleState } from "../model/console-state.ts";
import { topicTest } from "../model/topic-filter.ts";
import type { TopicRecord, ValueStore } from "../model/value-store.ts";
import { count } from "../model/wording.ts";
import { explainNoMatch, explainNoValues } from "./empty-states.ts";
import { part, setText } from "./page.ts";
import { RowWindow } from "./row-window.ts";
import { ValueRow } from "./value-row.ts";

export interface ValuesTableActions {
  isPinned: (topic: string) => boolean;
  toggle: (record: TopicRecord) => void;
  /** Asks for a render soon: the view moved. */
  moved: () => void;
}

export class ValuesTable {
  readonly #scroll = part("values-scroll");
  readonly #filter = part<HTMLInputElement>("values-filter");
  readonly #count = part("values-count");
  readonly #empty = part("values-empty");
  readonly #rows: RowWindow<TopicRecord, ValueRow>;
  #selectedFor = "";
  #now_ms = 0;

  constructor(actions: ValuesTableActions) {
    this.#rows = new RowWindow<TopicRecord, ValueRow>({
      scroll: this.#scroll,
      sizer: part("values-sizer"),
      make: () => new ValueRow(),
      draw: (row, record, index, active) => {
        row.render(record, { index, active, now_ms: this.#now_ms, pinned: actions.isPinned(record.topic) });
      },
      chosen: actions.toggle,
      moved: actions.moved,
    });
    this.#filter.addEventListener("input", () => this.#rows.toTop());
  }

  render(state: ConsoleState, now_ms: number): void {
    this.#now_ms = now_ms;
    this.#select(state.values);
    this.#renderCount(state);
    this.#renderEmpty(state);
    this.#rows.render();
  }

  #select(values: ValueStore): void {
    const key = `${values.revision} ${this.#filter.value}`;
    if (key === this.#selectedFor) return;
    this.#selectedFor = key;
    this.#rows.show(values.select(topicTest(this.#filter.value)));
  }

  #renderCount(state: ConsoleState): void {
    const total = state.latest?.topics_total ?? 0;
    const shown = this.#rows.length;
    setText(this.#count, shown === total ? "" : `showing ${count(shown)} of ${count(total)}`);
  }

  #renderEmpty(state: ConsoleState): void {
    const nothing = this.#rows.length === 0;
    this.#scroll.hidden = nothing;
    this.#empty.hidden = !nothing;
    if (!nothing) return;
    if (state.values.size > 0) explainNoMatch(this.#empty);
    else explainNoValues(this.#empty, state.latest);
  }
}
