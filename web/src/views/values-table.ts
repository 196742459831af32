// The newest values of topics that are not parameters, thousands of them, filtered.
import type { ConsoleState } from "../model/console-state.ts";
import { topicTest } from "../model/topic-filter.ts";
import type { TopicRecord, ValueStore } from "../model/value-store.ts";
import { count, legible } from "../model/wording.ts";
import { explainNoMatch, explainNoValues } from "./empty-states.ts";
import { NameColumn } from "./name-column.ts";
import { RowsPanel } from "./rows-panel.ts";
import { ValueRow } from "./value-row.ts";

const WORDS = {
  id: "values",
  title: "Newest values",
  search: "Filter topics",
  placeholder: "Filter: engine, or gripen/+/engine/#",
  columns: ["Topic", "Value", "Age", "Rate", "Chart"],
  keys: "Arrow keys choose a row, Enter charts it.",
};

interface ValuesTableActions {
  isPinned: (topic: string) => boolean;
  toggle: (record: TopicRecord) => void;
  /** Asks for a render soon: the view moved. */
  moved: () => void;
}

export class ValuesTable {
  readonly #panel: RowsPanel<TopicRecord, ValueRow>;
  readonly #names: NameColumn;
  #topics: readonly string[] = [];
  #short: readonly string[] = [];
  #selectedFor = "";
  #now_ms = 0;

  constructor({ isPinned, toggle, moved }: ValuesTableActions) {
    this.#panel = new RowsPanel<TopicRecord, ValueRow>(WORDS, {
      make: () => new ValueRow(),
      draw: (row, record, index, active) => {
        const name = this.#short[index] ?? record.topic;
        row.render(record, { index, active, name, now_ms: this.#now_ms, pinned: isPinned(record.topic) });
      },
      chosen: toggle,
      moved,
    });
    this.#names = new NameColumn(this.#panel.nameHead, this.#panel.body);
  }

  render(state: ConsoleState, now_ms: number): void {
    this.#now_ms = now_ms;
    this.#select(state.values);
    this.#short = this.#names.shortened(this.#topics);
    const total = state.latest?.topics_total ?? 0;
    const shown = this.#panel.length;
    this.#panel.render(shown === total ? "" : `showing ${count(shown)} of ${count(total)}`, (node) => {
      if (state.values.size > 0) explainNoMatch(node, "topic");
      else explainNoValues(node, state.latest);
    });
  }

  #select(values: ValueStore): void {
    const { value } = this.#panel.search;
    const key = `${values.revision} ${value}`;
    if (key === this.#selectedFor) return;
    this.#selectedFor = key;
    const records = values.select(topicTest(value));
    this.#topics = records.map(({ topic }) => legible(topic));
    this.#panel.show(records);
  }
}
