// The samples of all widgets of a page: of the past what they lack is fetched, of the present the broker sends what a
// screen can show. Never more than a bound for each name, however long the page is open; it uses neither sockets nor the DOM.
import { coarseStretch, fineStretch, isEnough, isWorthWaiting, type ShownView, type Stretch, wantsCoarse } from "./history-plan.ts";
import type { HistoryAnswer, HistoryPage, Origin } from "./history-answer.ts";
import { array, asNumber, record, word } from "./history-answer.ts";
import { HeldSeries } from "./held-series.ts";
import type { SeriesSlice } from "./series-slice.ts";

export type { ShownView } from "./history-plan.ts";

/** Names of one page; those beyond are not shown. */
export const NAMES_MAX = 128;
/** What the broker takes in one request. */
const NAMES_A_REQUEST = 24;
/** While a person moves the view, the broker is not asked. */
const SETTLE_MS = 120;
const RETRY_MS = 2_000;
/** Between two messages of the broker: faster than anybody reads, slower than it would flicker. */
const STEP_MS_MIN = 20;
const STEP_MS_MAX = 100;
/** A message that is further back than the one before means that the broker's clock was set. */
const CLOCK_BACK_MS_MAX = 1_000;

export interface HistoryRequest extends Stretch {
  readonly names: readonly string[];
}

/** How the store reaches the broker. */
export interface SeriesFeed {
  history(request: HistoryRequest, signal: AbortSignal): Promise<HistoryAnswer>;
  /** Which names the broker shall send from now on, and how often. No names end it. */
  listen(names: readonly string[], step_ms: number): void;
}

/** What is known about one series beside its samples. */
export interface SeriesState {
  readonly unit: string;
  readonly type: string;
  /** Where the newest page of the past came from. */
  readonly origin: Origin;
  /** Whether the broker stopped before it had read everything. */
  readonly is_cut: boolean;
  /** Whether anything has been answered yet. */
  readonly is_known: boolean;
}

interface Flight {
  readonly asked: Stretch;
  readonly names: ReadonlySet<string>;
  readonly abort: AbortController;
}

export class SeriesStore {
  readonly #feed: SeriesFeed;
  readonly #changed: () => void;
  readonly #wanted = new Map<object, { names: readonly string[]; width: number }>();
  readonly #series = new Map<string, HeldSeries>();
  #view: ShownView | null = null;
  #flight: Flight | null = null;
  #settled_at_ms = 0;
  #retry_at_ms = 0;
  #listening = "";
  #trouble: string | null = null;
  #oldest_ms: number | null = null;
  #heard_ms = Number.NEGATIVE_INFINITY;

  /** `changed` is called when samples came; what is drawn is then read anew. */
  constructor(feed: SeriesFeed, changed: () => void) {
    this.#feed = feed;
    this.#changed = changed;
  }

  /** What a widget draws, in so many columns, in place of what it drew before. */
  want(owner: object, names: readonly string[], width: number): void {
    const before = this.#wanted.get(owner);
    if (before && before.width === width && before.names.length === names.length && before.names.every((name, at) => name === names[at])) return;
    this.#wanted.set(owner, { names: [...names], width });
    this.#gather();
  }

  release(owner: object): void {
    if (this.#wanted.delete(owner)) this.#gather();
  }

  /** Follows the shown time; called with every frame. `local_ms` is the page's own clock. */
  follow(shown: Omit<ShownView, "width">, local_ms: number): void {
    const view = { ...shown, width: this.#width() };
    if (this.#view && isMovedByHand(this.#view, view)) this.#settled_at_ms = local_ms + SETTLE_MS;
    this.#view = view;
    this.#listen(view);
    this.#fetch(view, local_ms);
  }

  /** The samples of one series in the shown time; its arrays are used again with the next call for this name. */
  slice(name: string): SeriesSlice {
    return (this.#series.get(name) ?? EMPTY).slice(this.#view);
  }

  /** Another number whenever a series has other samples. */
  revision(name: string): number {
    return this.#series.get(name)?.revision ?? 0;
  }

  state(name: string): SeriesState {
    return (this.#series.get(name) ?? EMPTY).state;
  }

  /** The value at or before a time, NaN if none is known. */
  valueAt(name: string, at_ms: number): number {
    const slice = this.slice(name);
    const at = slice.indexBefore(at_ms);
    return at < 0 ? Number.NaN : slice.last[at]!;
  }

  /** What is shown of a value that is no number, at or before a time. */
  textAt(name: string, at_ms: number): string | null {
    const slice = this.slice(name);
    return slice.texts[slice.indexBefore(at_ms)] ?? null;
  }

  /** The exact time of the sample at or before a time, in nanoseconds; null where only buckets or live samples are known. */
  exactAt(name: string, at_ms: number): bigint | null {
    return this.#series.get(name)?.exactAt(at_ms) ?? null;
  }

  /** What keeps the store from fetching; null while nothing does. */
  get trouble(): string | null {
    return this.#trouble;
  }

  get isLoading(): boolean {
    return this.#flight !== null;
  }

  /** The oldest time that the broker has; null before its first answer. */
  get oldest_ms(): number | null {
    return this.#oldest_ms;
  }

  /** Bytes of all samples. */
  get bytes(): number {
    return [...this.#series.values()].reduce((sum, series) => sum + series.bytes, 0);
  }

  /** A message of the broker with what came since the one before. `first`: the first of a connection. */
  receive(text: string, first: boolean): void {
    const told = record(JSON.parse(text));
    const at_ms = asNumber(told["at_ms"]);
    if (at_ms < this.#heard_ms - CLOCK_BACK_MS_MAX) for (const series of this.#series.values()) series.forget();
    this.#heard_ms = at_ms;
    if (first) for (const series of this.#series.values()) series.breakOff();
    for (const series of this.#series.values()) series.hear(at_ms);
    const bucket_ms = typeof told["step_ms"] === "number" ? told["step_ms"] : 0;
    for (const one of array(told, "series")) {
      const row = record(one);
      this.#series.get(word(row, "name"))?.take(row, this.#ringStep(), bucket_ms, at_ms);
    }
    this.#changed();
  }

  /** Forgets requests that are under way; samples stay. */
  close(): void {
    this.#flight?.abort.abort();
    this.#flight = null;
    this.#wanted.clear();
    this.#gather();
    this.#listening = "";
    this.#feed.listen([], STEP_MS_MAX);
  }

  #gather(): void {
    const names = new Set([...this.#wanted.values()].flatMap((want) => want.names).slice(0, NAMES_MAX));
    for (const name of this.#series.keys()) if (!names.has(name)) this.#series.delete(name);
    for (const name of names) if (!this.#series.has(name)) this.#series.set(name, new HeldSeries());
  }

  #width(): number {
    let widest = 1;
    for (const { width } of this.#wanted.values()) if (width > widest) widest = width;
    return Math.ceil(widest);
  }

  /** A step of the ring is a column of the screen. */
  #ringStep(): number {
    const view = this.#view;
    return view === null ? STEP_MS_MAX : (view.to_ms - view.from_ms) / view.width;
  }

  #listen(view: ShownView): void {
    const names = view.mode === "live" ? [...this.#series.keys()] : [];
    const step_ms = Math.round(Math.min(STEP_MS_MAX, Math.max(STEP_MS_MIN, this.#ringStep())));
    const key = JSON.stringify([names, step_ms]);
    for (const series of this.#series.values()) series.setStep(names.length > 0 ? this.#ringStep() : null);
    if (key === this.#listening) return;
    this.#listening = key;
    this.#feed.listen(names, step_ms);
  }

  #fetch(view: ShownView, local_ms: number): void {
    if (this.#flight && !isWorthWaiting(this.#flight.asked, view)) {
      this.#flight.abort.abort();
      this.#flight = null;
    }
    if (this.#flight || local_ms < this.#settled_at_ms || local_ms < this.#retry_at_ms || view.live_ms <= 0) return;
    const lacking = [...this.#series].filter(([, { fine, seam_ms, again_at_ms }]) => local_ms >= again_at_ms || !isEnough(fine?.asked ?? null, fine?.page.step_ms === 0, view, seam_ms));
    if (lacking.length === 0) return;
    const isCoarse = lacking.some(([, { fine, coarse }]) => wantsCoarse(fine?.asked ?? null, coarse?.asked ?? null, view));
    const asked = isCoarse ? coarseStretch(view) : fineStretch(view);
    const names = lacking.map(([name]) => name).slice(0, NAMES_A_REQUEST);
    const flight = { asked, names: new Set(names), abort: new AbortController() };
    this.#flight = flight;
    void this.#fly(flight, isCoarse, local_ms);
  }

  async #fly(flight: Flight, isCoarse: boolean, local_ms: number): Promise<void> {
    try {
      const answer = await this.#feed.history({ ...flight.asked, names: [...flight.names] }, flight.abort.signal);
      if (this.#flight !== flight) return;
      this.#oldest_ms = answer.oldest_ms ?? this.#oldest_ms;
      for (const name of flight.names) this.#series.get(name)?.keep(answer.pages.get(name) ?? nothing(flight.asked), flight.asked, isCoarse, local_ms);
      this.#trouble = null;
    } catch (error) {
      if (this.#flight !== flight) return;
      this.#trouble = error instanceof Error ? error.message : "The broker does not answer.";
      this.#retry_at_ms = local_ms + RETRY_MS;
    }
    this.#flight = null;
    this.#changed();
  }
}

const EMPTY = new HeldSeries();
const NO_NUMBERS = new Float64Array(0);

/** The page of a name that the broker does not know. */
function nothing({ from_ms, to_ms }: Stretch): HistoryPage {
  const none = { times: NO_NUMBERS, min: NO_NUMBERS, max: NO_NUMBERS, last: NO_NUMBERS, texts: null, exact: null };
  return { from_ms, to_ms, step_ms: 0, ...none, unit: "", type: "", origin: "none", is_cut: false };
}

/** Whether the view is elsewhere than time alone would have taken it. */
function isMovedByHand(before: ShownView, now: ShownView): boolean {
  if (before.mode !== now.mode) return false;
  const span_ms = before.to_ms - before.from_ms;
  if (Math.abs(now.to_ms - now.from_ms - span_ms) > span_ms / 1_000) return true;
  return now.mode === "paused" && now.to_ms !== before.to_ms;
}
