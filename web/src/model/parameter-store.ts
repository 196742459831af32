// The parameters in view, by row, and the lines of those that were in view lately. Bounded; never touches the page.
import type { ParameterDefinition, ParameterSample, ParametersMessage } from "./contract.ts";
import { numberOf } from "./parameter-value.ts";
import { gapBefore, type Series, ValueHistory } from "./value-history.ts";

/** Parameters whose line is kept: three times what the broker sends at once. */
const RECORDS_MAX = 600;

export interface ParameterRecord {
  /** Its name. */
  readonly topic: string;
  definition: ParameterDefinition;
  /** Null while it never had a value. */
  newest: ParameterSample | null;
  history: ValueHistory;
  /** Whether its line was filled with what the broker knows of the past. */
  is_filled: boolean;
  /** Samples a second as they were measured in the past that was fetched; null if not. */
  measured_hz: number | null;
}

export class ParameterStore {
  /** Those that were in view last are last. */
  #records = new Map<string, ParameterRecord>();
  #first = 0;
  #rows: ParameterRecord[] = [];
  #byIndex = new Map<number, ParameterRecord>();
  #latest: ParametersMessage | null = null;
  #revision = 0;

  /** Those in view, in the broker's order; the first of them is row `first`. */
  get rows(): readonly ParameterRecord[] {
    return this.#rows;
  }

  get first(): number {
    return this.#first;
  }

  /** How many the search finds. */
  get total(): number {
    return this.#latest?.matching ?? 0;
  }

  /** Changes whenever there are other rows. */
  get revision(): number {
    return this.#revision;
  }

  /** The newest message; null before the first. */
  get latest(): ParametersMessage | null {
    return this.#latest;
  }

  /** The parameter of a row; null while the broker has not sent it. */
  at(row: number): ParameterRecord | null {
    return this.#rows[row - this.#first] ?? null;
  }

  get(name: string): ParameterRecord | null {
    return this.#records.get(name) ?? null;
  }

  /** Which row a parameter has; -1 if it is not in view. */
  rowOf(name: string): number {
    const at = this.#rows.findIndex(({ topic }) => topic === name);
    return at < 0 ? -1 : this.#first + at;
  }

  receive(message: ParametersMessage): void {
    const gap_ms = gapBefore(message.at_ms, this.#latest?.at_ms);
    if (gap_ms !== null) for (const { history } of this.#records.values()) history.breakOff(gap_ms);
    if (message.definitions !== null) this.#replace(message.definitions, message.first);
    for (const sample of message.values) this.#take(sample);
    this.#latest = message;
  }

  /** Takes the past of a parameter: what was seen here since comes behind it. */
  fill(name: string, past: Series, measured_hz: number | null): void {
    const record = this.#records.get(name);
    if (!record) return;
    const seen = record.history.series();
    const filled = new ValueHistory();
    const end = past.times.at(-1) ?? Number.NEGATIVE_INFINITY;
    past.times.forEach((time, at) => filled.append(time, past.values[at] ?? Number.NaN));
    seen.times.forEach((time, at) => time > end && filled.append(time, seen.values[at] ?? Number.NaN));
    record.history = filled;
    record.is_filled = true;
    record.measured_hz = measured_hz;
  }

  /** Parameters that stay in view keep their line; the line of those that leave it has a gap from now on. */
  #replace(definitions: ParameterDefinition[], first: number): void {
    const before = this.#rows;
    this.#rows = definitions.map((definition) => this.#renewed(definition));
    const stay = new Set(this.#rows);
    for (const record of before) if (!stay.has(record)) this.#leave(record);
    this.#byIndex = new Map(this.#rows.map((record) => [record.definition.index, record]));
    this.#first = first;
    this.#revision += 1;
    for (const name of this.#records.keys()) {
      if (this.#records.size <= RECORDS_MAX) break;
      this.#records.delete(name);
    }
  }

  #leave(record: ParameterRecord): void {
    if (this.#latest) record.history.breakOff(this.#latest.at_ms + 1);
    record.is_filled = false;
  }

  /** Another index or type under the same name is another parameter. */
  #renewed(definition: ParameterDefinition): ParameterRecord {
    const known = this.#records.get(definition.name);
    const is_same = known?.definition.index === definition.index && known.definition.type === definition.type;
    const record: ParameterRecord =
      known && is_same
        ? known
        : {
            topic: definition.name,
            definition,
            newest: null,
            history: new ValueHistory(),
            is_filled: false,
            measured_hz: null,
          };
    record.definition = definition;
    this.#records.delete(definition.name);
    this.#records.set(definition.name, record);
    return record;
  }

  #take(sample: ParameterSample): void {
    const record = this.#byIndex.get(sample.index);
    if (!record) return;
    record.newest = sample;
    const number = numberOf(record.definition.type, sample.value);
    if (number !== null && Number.isFinite(number)) record.history.append(sample.received_ms, number);
  }
}
