// The alarms as the broker has them. Fetches the list when the live message says that it changed, and never more often
// than once a second; what people do here is in the next list.
import { AlarmsMessage, type AlarmSummary, type ShownAlarm } from "./contract.ts";
import { parse } from "./shape.ts";

const PAUSE_MS = 1_000;
/** Alarms that wait to be told, where no page tells them: the oldest are forgotten. */
const FRESH_MAX = 50;

/** Gives the text of an answer, or null if there is none. */
export type AskForText = (path: string) => Promise<string | null>;

export class AlarmStore {
  readonly #ask: AskForText;
  readonly #changed: () => void;
  #alarms: readonly ShownAlarm[] = [];
  #total = 0;
  /** The revision of the list; -1 before the first one. */
  #revision = -1;
  #is_asking = false;
  #asked_ms = -PAUSE_MS;
  /** Identifiers of the alarms that were in a list before, and how often each began. */
  #known: ReadonlyMap<string, number> | null = null;
  #fresh: readonly ShownAlarm[] = [];

  constructor(ask: AskForText, changed: () => void) {
    this.#ask = ask;
    this.#changed = changed;
  }

  /** Unacknowledged and active ones first. */
  get alarms(): readonly ShownAlarm[] {
    return this.#alarms;
  }

  /** How many there are, in the list or not. */
  get total(): number {
    return this.#total;
  }

  /** Of the list; another one says that something changed. */
  get revision(): number {
    return this.#revision;
  }

  get hasLoaded(): boolean {
    return this.#revision >= 0;
  }

  /** Those that began since they were taken last, to be told once. */
  takeFresh(): readonly ShownAlarm[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** Called with every drawing: `summary` is that of the newest live message, `local_ms` any clock that goes on. */
  follow(summary: AlarmSummary | null, local_ms: number): void {
    if (summary === null || summary.revision === this.#revision) return;
    if (this.#is_asking || local_ms - this.#asked_ms < PAUSE_MS) return;
    this.#asked_ms = local_ms;
    void this.load();
  }

  /** Asks now, such as after somebody did something. */
  async load(): Promise<void> {
    if (this.#is_asking) return;
    this.#is_asking = true;
    try {
      const text = await this.#ask("api/alarms");
      if (text !== null) this.#take(parse(AlarmsMessage, text));
    } finally {
      this.#is_asking = false;
    }
  }

  /** Alarms that ended and were acknowledged, the newest first. */
  async history(): Promise<readonly ShownAlarm[]> {
    const text = await this.#ask("api/alarms?state=history");
    return text === null ? [] : parse(AlarmsMessage, text).alarms;
  }

  #take({ revision, total, alarms }: AlarmsMessage): void {
    const known = this.#known;
    if (known) this.#fresh = [...this.#fresh, ...alarms.filter((one) => known.get(one.id) !== one.times)].slice(-FRESH_MAX);
    this.#known = new Map(alarms.map(({ id, times }) => [id, times]));
    this.#alarms = alarms;
    this.#total = total;
    this.#revision = revision;
    this.#changed();
  }
}
