// The newest value of every topic the page knows, with its cadence and history. Bounded; never touches the page.
import { Cadence } from "./cadence.ts";
import type { TopicValue } from "./contract.ts";
import { ValueHistory } from "./value-history.ts";
import { numericReading } from "./reading.ts";
import type { TopicTest } from "./topic-filter.ts";

/** The broker's first message carries as many; topics beyond it are counted but not shown. */
export const TOPICS_MAX = 5_000;

export interface TopicRecord {
  readonly topic: string;
  newest: TopicValue;
  reading: number | null;
  readonly cadence: Cadence;
  readonly history: ValueHistory;
}

/** Numbers inside names compare as numbers: `cell/2` comes before `cell/10`. */
const byName = new Intl.Collator("en", { numeric: true }).compare;

export class ValueStore {
  readonly #records = new Map<string, TopicRecord>();
  #sorted: TopicRecord[] | null = null;
  #revision = 0;

  get size(): number {
    return this.#records.size;
  }

  /** Changes whenever a topic comes or goes. */
  get revision(): number {
    return this.#revision;
  }

  get(topic: string): TopicRecord | undefined {
    return this.#records.get(topic);
  }

  update(values: TopicValue[]): void {
    for (const value of values) this.#updateOne(value);
  }

  /** Takes `values` as complete: a restarted broker no longer knows the other topics. */
  replace(values: TopicValue[]): void {
    const known = new Set(values.map((value) => value.topic));
    for (const topic of this.#records.keys()) {
      if (!known.has(topic)) this.#records.delete(topic);
    }
    this.#topicsChanged();
    this.update(values);
  }

  /** No message came after `at_ms`, so every line gets a gap there. */
  breakOff(at_ms: number): void {
    for (const record of this.#records.values()) record.history.breakOff(at_ms);
  }

  select(test: TopicTest): TopicRecord[] {
    return this.#inOrder().filter((record) => test(record.topic));
  }

  #updateOne(value: TopicValue): void {
    const record = this.#records.get(value.topic) ?? this.#admit(value);
    if (!record) return;
    record.newest = value;
    record.reading = numericReading(value.text);
    record.cadence.observe(value.at_ms, value.count);
    if (record.reading !== null) record.history.append(value.at_ms, record.reading);
  }

  #admit(value: TopicValue): TopicRecord | null {
    if (this.#records.size >= TOPICS_MAX) return null;
    const record = {
      topic: value.topic,
      newest: value,
      reading: null,
      cadence: new Cadence(),
      history: new ValueHistory(),
    };
    this.#records.set(value.topic, record);
    this.#topicsChanged();
    return record;
  }

  #topicsChanged(): void {
    this.#sorted = null;
    this.#revision += 1;
  }

  #inOrder(): TopicRecord[] {
    this.#sorted ??= [...this.#records.values()].sort((a, b) => byName(a.topic, b.topic));
    return this.#sorted;
  }
}
