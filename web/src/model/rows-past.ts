// The past of the rows in view: their last minute when they come into view, and their values when an earlier time is shown.
import { readHistory } from "./history-answer.ts";
import { nameQueries } from "./name-batches.ts";
import type { ParameterSample } from "./contract.ts";
import type { ParameterRecord, ParameterStore } from "./parameter-store.ts";
import { fields, list, orNull, parse } from "./shape.ts";
import { statistics } from "./statistics.ts";
import type { TimeControl } from "./time-control.ts";
import type { Series } from "./value-history.ts";

/** What a line in a row shows. */
const SPAN_MS = 60_000;
/** Columns of such a line. */
const WIDTH = 160;
/** What the broker takes in one request. */
const SERIES_MAX = 24;
const VALUES_MAX = 500;
/** A view that still moves is not asked for. */
const SETTLE_MS = 150;
/** While the past is played, rows are asked for so often. */
const AGAIN_MS = 1_000;
/** A broker that does not answer is asked again after this time. */
const REST_MS = 5_000;
const NOTHING: Series = { times: new Float64Array(), values: new Float64Array() };

const Values = fields({
  at_ms: "number",
  values: list(fields({ name: "text", value: orNull("scalar"), time_ms: orNull("number"), quality: orNull("text") })),
});

/** Gets an address of the broker; null if there is no answer. */
export type GetText = (path: string) => Promise<string | null>;

export class RowsPast {
  readonly #store: ParameterStore;
  readonly #get: GetText;
  readonly #changed: () => void;
  #samples = new Map<string, ParameterSample>();
  /** The time that the samples are of. */
  #sampled_ms = 0;
  #lines = new Map<string, Series>();
  #asked = "";
  #asked_at_ms = 0;
  #settled = "";
  #settled_at_ms = 0;
  #rests_until_ms = 0;
  #shown_ms = 0;
  #is_busy = false;

  constructor(store: ParameterStore, get: GetText, changed: () => void) {
    this.#store = store;
    this.#get = get;
    this.#changed = changed;
  }

  /** Called with every drawing: asks for what is missing of these rows. `local_ms` is the page's own clock. */
  follow(records: readonly ParameterRecord[], time: TimeControl, now_ms: number, local_ms: number): void {
    this.#shown_ms = time.shown(now_ms);
    const view = `${time.revision} ${records.map(({ topic }) => topic).join("\n")}`;
    if (view !== this.#settled) {
      this.#settled = view;
      this.#settled_at_ms = local_ms;
    }
    const has_settled = local_ms - this.#settled_at_ms >= SETTLE_MS;
    if (!has_settled || this.#is_busy || local_ms < this.#rests_until_ms || now_ms === 0) return;
    if (time.mode === "live") this.#fillLines(records, now_ms, local_ms);
    else this.#lookBack(records, time, now_ms, local_ms, view);
  }

  /**
   * The sample of a parameter at the shown time; null if it had none, and while only that of a later time is known, or that
   * of an earlier one than what stands still: there may be a newer sample.
   */
  sampleOf(record: ParameterRecord, time: TimeControl): ParameterSample | null {
    if (time.mode === "live") return record.newest;
    const sample = this.#samples.get(record.topic) ?? null;
    if (sample === null || sample.time_ms > this.#shown_ms) return null;
    return time.mode === "paused" && this.#sampled_ms < this.#shown_ms ? null : sample;
  }

  /** The line of a parameter up to the shown time. */
  lineOf(record: ParameterRecord, time: TimeControl): Series {
    return time.mode === "live" ? record.history.series() : (this.#lines.get(record.topic) ?? NOTHING);
  }

  #fillLines(records: readonly ParameterRecord[], now_ms: number, local_ms: number): void {
    const empty = records.filter((record) => !record.is_filled).map(({ topic }) => topic);
    if (empty.length > 0) void this.#run(local_ms, () => this.#fetchLines(empty, now_ms, true));
  }

  #lookBack(records: readonly ParameterRecord[], time: TimeControl, now_ms: number, local_ms: number, view: string): void {
    const is_due = time.mode === "replay" && local_ms - this.#asked_at_ms >= AGAIN_MS;
    if (view === this.#asked && !is_due) return;
    this.#asked = view;
    this.#asked_at_ms = local_ms;
    const at_ms = time.shown(now_ms);
    const names = records.map(({ topic }) => topic);
    void this.#run(local_ms, async () => (await this.#fetchValues(names, at_ms)) && this.#fetchLines(names, at_ms, false));
  }

  async #run(local_ms: number, work: () => Promise<boolean>): Promise<void> {
    this.#is_busy = true;
    const is_done = await work().catch(() => false);
    if (!is_done) {
      this.#rests_until_ms = local_ms + REST_MS;
      this.#asked = "";
    }
    this.#is_busy = false;
    this.#changed();
  }

  async #fetchLines(names: readonly string[], to_ms: number, is_live: boolean): Promise<boolean> {
    const kept = new Map<string, Series>();
    const range = `from_ms=${Math.floor(to_ms - SPAN_MS)}&to_ms=${Math.ceil(to_ms)}&width=${WIDTH}`;
    for (const { names: some, query } of nameQueries(names, SERIES_MAX)) {
      const text = await this.#get(`api/history?${query}&${range}`);
      if (text === null) return false;
      const { pages } = readHistory(text);
      for (const name of some) {
        const page = pages.get(name);
        const series = page ? { times: page.times, values: page.last } : NOTHING;
        if (is_live) this.#store.fill(name, series, page ? (statistics(page)?.rate_hz ?? null) : null);
        else kept.set(name, series);
      }
      this.#changed();
    }
    if (!is_live) this.#lines = kept;
    return true;
  }

  async #fetchValues(names: readonly string[], at_ms: number): Promise<boolean> {
    const kept = new Map<string, ParameterSample>();
    for (const { query } of nameQueries(names, VALUES_MAX)) {
      const text = await this.#get(`api/values?${query}&at_ms=${Math.floor(at_ms)}`);
      if (text === null) return false;
      for (const { name, value, time_ms, quality } of parse(Values, text).values) {
        if (value === null || time_ms === null) continue;
        kept.set(name, { index: 0, value, time_ms, received_ms: time_ms, quality: quality ?? "good", why: null });
      }
    }
    this.#samples = kept;
    this.#sampled_ms = at_ms;
    this.#changed();
    return true;
  }
}
