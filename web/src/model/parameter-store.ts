// The parameters that the page watches: never more than the broker's bound. Never touches the page.
import type { ParameterDefinition, ParameterSample, ParametersMessage } from "./contract.ts";
import { gapBefore, ValueHistory } from "./value-history.ts";
import { numberOf } from "./parameter-value.ts";

export interface ParameterRecord {
  /** Its name. */
  readonly topic: string;
  definition: ParameterDefinition;
  /** Null while it never had a value. */
  newest: ParameterSample | null;
  readonly history: ValueHistory;
}

export class ParameterStore {
  #rows: ParameterRecord[] = [];
  #byIndex = new Map<number, ParameterRecord>();
  #latest: ParametersMessage | null = null;
  #revision = 0;
  #first = 0;
  #end = Number.POSITIVE_INFINITY;

  /** In the broker's order. */
  get rows(): ParameterRecord[] {
    return this.#rows;
  }

  /** Changes whenever there are other rows. */
  get revision(): number {
    return this.#revision;
  }

  /** The newest message; null before the first. */
  get latest(): ParametersMessage | null {
    return this.#latest;
  }

  receive(message: ParametersMessage): void {
    const gap_ms = gapBefore(message.at_ms, this.#latest?.at_ms);
    if (gap_ms !== null) for (const { history } of this.#rows) history.breakOff(gap_ms);
    if (message.definitions !== null) this.#replace(message.definitions);
    for (const sample of message.values) this.#take(sample);
    this.#latest = message;
  }

  /** The broker sends only these rows from now on; the lines of others get a gap. */
  watch(first: number, count: number): void {
    const at_ms = this.#latest?.at_ms;
    this.#rows.forEach(({ history }, row) => {
      const leaves = row >= this.#first && row < this.#end && (row < first || row >= first + count);
      if (leaves && at_ms !== undefined) history.breakOff(at_ms + 1);
    });
    this.#first = first;
    this.#end = first + count;
  }

  /** Parameters that stay keep their line. */
  #replace(definitions: ParameterDefinition[]): void {
    const known = new Map(this.#rows.map((record) => [record.topic, record]));
    this.#rows = definitions.map((definition) => renewed(known.get(definition.name), definition));
    this.#byIndex = new Map(this.#rows.map((record) => [record.definition.index, record]));
    this.#revision += 1;
  }

  #take(sample: ParameterSample): void {
    const record = this.#byIndex.get(sample.index);
    if (!record) return;
    record.newest = sample;
    const number = numberOf(record.definition.type, sample.value);
    if (number !== null && Number.isFinite(number)) record.history.append(sample.received_ms, number);
  }
}

/** Another index or type under the same name is another parameter. */
function renewed(known: ParameterRecord | undefined, definition: ParameterDefinition): ParameterRecord {
  const same = known?.definition.index === definition.index && known.definition.type === definition.type;
  if (!known || !same) return { topic: definition.name, definition, newest: null, history: new ValueHistory() };
  known.definition = definition;
  return known;
}
