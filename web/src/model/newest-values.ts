// The newest value and quality of parameters at the shown time, for all widgets of a page. It asks for many at once, and
// never before the answer to the question before has come.
import { fields, list, orNull, parse } from "./shape.ts";
import type { TimeMode } from "./time-control.ts";

/** The broker takes no more names in one request. */
const NAMES_MAX = 500;
const AGAIN_MS = 500;
const RETRY_MS = 3_000;

/** All but the name is null where there was no value. */
const NewestRow = fields({ name: "text", value: orNull("scalar"), time_ms: orNull("number"), quality: orNull("text") });
const NewestAnswer = fields({ at_ms: "number", values: list(NewestRow) });

export interface NewestSample {
  readonly name: string;
  readonly value: number | boolean | string;
  readonly time_ms: number;
  readonly quality: string;
}

export type FetchNewest = (names: readonly string[], at_ms: number | null) => Promise<NewestSample[]>;

export function readNewest(text: string): NewestSample[] {
  return parse(NewestAnswer, text).values.flatMap(({ name, value, time_ms, quality }) =>
    value === null || time_ms === null ? [] : [{ name, value, time_ms, quality: quality ?? "good" }],
  );
}

export class NewestValues {
  readonly #fetch: FetchNewest;
  readonly #changed: () => void;
  readonly #wanted = new Map<object, readonly string[]>();
  #values = new Map<string, NewestSample>();
  #revision = 0;
  #next_ms = 0;
  #isAsking = false;
  #isLive = true;
  #shown_ms = 0;
  #isPaused = false;
  /** The time that the values are of; they may be older, but there is no newer one before it. */
  #answered_ms = 0;
  #asked = "";

  constructor(fetch: FetchNewest, changed: () => void) {
    this.#fetch = fetch;
    this.#changed = changed;
  }

  /** Another number whenever something was answered. */
  get revision(): number {
    return this.#revision;
  }

  want(owner: object, names: readonly string[]): void {
    this.#wanted.set(owner, names);
    this.#next_ms = 0;
  }

  release(owner: object): void {
    this.#wanted.delete(owner);
  }

  /**
   * Null also for what came later than the shown time: after a jump to the past, the present is no value of it. After a jump
   * to a later time that stands still there may be a newer value; a replay is so little ahead of its answers that they are shown.
   */
  get(name: string): NewestSample | null {
    const found = this.#values.get(name) ?? null;
    if (found === null || this.#isLive) return found;
    return found.time_ms > this.#shown_ms || (this.#isPaused && this.#answered_ms < this.#shown_ms) ? null : found;
  }

  /** Asks again if it is time to. What stands still is asked for once. `local_ms` is the page's own clock. */
  follow(mode: TimeMode, shown_ms: number, local_ms: number): void {
    this.#shown_ms = shown_ms;
    this.#isPaused = mode === "paused";
    if ((mode === "live") !== this.#isLive) this.#begin(mode === "live");
    if (this.#isAsking || local_ms < this.#next_ms || this.#wanted.size === 0) return;
    const names = [...new Set([...this.#wanted.values()].flat())].slice(0, NAMES_MAX);
    if (names.length === 0) return;
    const asked = JSON.stringify([mode, mode === "paused" ? shown_ms : null, names]);
    if (mode === "paused" && asked === this.#asked) return;
    this.#isAsking = true;
    this.#next_ms = local_ms + AGAIN_MS;
    void this.#ask(names, mode === "live" ? null : shown_ms, asked, local_ms);
  }

  /** Values of now and values of the past never stand beside each other. */
  #begin(isLive: boolean): void {
    this.#isLive = isLive;
    this.#values = new Map();
    this.#asked = "";
    this.#next_ms = 0;
    this.#revision += 1;
  }

  async #ask(names: readonly string[], at_ms: number | null, asked: string, local_ms: number): Promise<void> {
    try {
      const isLive = this.#isLive;
      const found = await this.#fetch(names, at_ms);
      if (isLive !== this.#isLive) {
        this.#isAsking = false;
        return;
      }
      this.#values = new Map(found.map((one) => [one.name, one]));
      this.#answered_ms = at_ms ?? 0;
      this.#asked = asked;
      this.#revision += 1;
    } catch {
      this.#next_ms = local_ms + RETRY_MS;
    }
    this.#isAsking = false;
    this.#changed();
  }
}
