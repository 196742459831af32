// One row of the values table. Rows are few and are given another topic as the table scrolls.
import type { TopicRecord } from "../model/value-store.ts";
import { age, legible, moment, payload, perSecond } from "../model/wording.ts";
import { setName } from "./name-column.ts";
import { element, setData, setText, setTitle } from "./page.ts";
import { cell } from "./rows-panel.ts";

/** Faster values would only flicker. */
const FLASH_PER_SECOND_MAX = 1;
const FLASH_MS = 600;

interface RowPlace {
  index: number;
  now_ms: number;
  pinned: boolean;
  active: boolean;
  /** The topic, as short as its column. */
  name: string;
}

export class ValueRow {
  readonly root = element("div", "value-row");
  readonly #topic = cell("topic");
  readonly #value = cell("value");
  readonly #age = cell("age");
  readonly #rate = cell("rate");
  readonly #chart = cell("chart");
  #record: TopicRecord | null = null;
  #count = 0;

  constructor() {
    this.root.role = "row";
    this.root.append(this.#topic, this.#value, this.#age, this.#rate, this.#chart);
    // A time is costly to write out, and few are ever pointed at.
    this.#age.addEventListener("pointerenter", () => {
      const came = this.#record ? moment(this.#record.newest.at_ms) : "";
      const overdue = this.root.dataset["silent"] === "yes";
      setTitle(this.#age, overdue ? `${came} · overdue: it came more often than this` : came);
    });
  }

  get record(): TopicRecord | null {
    return this.#record;
  }

  render(record: TopicRecord, place: RowPlace): void {
    if (this.#record !== record) this.#showTopic(record);
    else if (this.#count !== record.newest.count) this.#flash(place.now_ms);
    this.#count = record.newest.count;
    setName(this.#topic, legible(record.topic), place.name);
    this.#renderValue(record);
    this.#renderTiming(record, place.now_ms);
    this.#renderPlace(place);
  }

  #showTopic(record: TopicRecord): void {
    this.#record = record;
    this.root.dataset["topic"] = record.topic;
  }

  #renderValue(record: TopicRecord): void {
    const text = payload(record.newest.text, record.newest.bytes);
    setText(this.#value, text);
    setTitle(this.#value, text);
    setData(this.root, "numeric", record.reading === null ? "no" : "yes");
  }

  #renderTiming(record: TopicRecord, now_ms: number): void {
    setText(this.#age, age(now_ms - record.newest.at_ms));
    setText(this.#rate, perSecond(record.cadence.perSecond(now_ms)));
    const silent = record.cadence.isSilent(now_ms);
    setData(this.root, "silent", silent ? "yes" : "no");
  }

  #renderPlace({ index, pinned, active }: RowPlace): void {
    this.root.id = `value-row-${index}`;
    this.root.ariaRowIndex = String(index + 2);
    this.root.ariaSelected = String(pinned);
    setData(this.root, "active", active ? "yes" : "no");
    setText(this.#chart, pinned ? "charted" : "");
  }

  #flash(now_ms: number): void {
    const per_second = this.#record?.cadence.perSecond(now_ms) ?? 0;
    if (per_second > FLASH_PER_SECOND_MAX || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.#value.animate([{ backgroundColor: "var(--flash)" }, { backgroundColor: "transparent" }], FLASH_MS);
  }
}
