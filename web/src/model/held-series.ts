// One series of the store: a fine and a coarse page of the past, and the ring of the present. Widgets see its slice only.
import { array, asNumber, endOfBucket, type HistoryPage } from "./history-answer.ts";
import { type ShownView, slackOf, type Stretch } from "./history-plan.ts";
import { SampleRing } from "./sample-ring.ts";
import { SeriesSlice, upperBound } from "./series-slice.ts";

/** A broker that has just started reads more the second time; one that has too much to read is not asked in vain. */
const CUT_MS = 500;
const CUT_MS_MAX = 60_000;

interface HeldPage {
  readonly page: HistoryPage;
  readonly asked: Stretch;
}

export class HeldSeries {
  fine: HeldPage | null = null;
  coarse: HeldPage | null = null;
  /** From then on the ring has every sample in steps that are fine enough; infinite until it is known. */
  seam_ms = Number.POSITIVE_INFINITY;
  revision = 1;
  /** When a page is asked for again of which the broker could not read everything. */
  again_at_ms = Number.POSITIVE_INFINITY;
  #cuts = 0;
  /** Made with the first sample: a series of which nothing comes needs none. */
  #ring: SampleRing | null = null;
  /** Null while nothing comes. */
  #step_ms: number | null = null;
  #ringStep_ms = 0;
  readonly #slice = new SeriesSlice();
  #sliceOf: [revision: number, from_ms: number, to_ms: number] = [0, 0, 0];

  get state() {
    const page = this.fine?.page ?? this.coarse?.page;
    return {
      unit: page?.unit ?? "",
      type: page?.type ?? "",
      origin: page?.origin ?? ("none" as const),
      is_cut: page?.is_cut ?? false,
      is_known: page !== undefined,
    };
  }

  get bytes(): number {
    const ring = this.#ring ? 4 * this.#ring.times.byteLength : 0;
    const pages = [this.fine, this.coarse].reduce((sum, held) => sum + (held?.page.exact ? 5 : 4) * (held?.page.times.byteLength ?? 0), 0);
    return ring + pages + 4 * this.#slice.times.byteLength;
  }

  /** The step in which samples come from now on; null if none come. A finer one begins a new stretch of the ring. */
  setStep(step_ms: number | null): void {
    if (step_ms === this.#step_ms) return;
    this.#ringStep_ms = step_ms ?? this.#ringStep_ms;
    if (this.#step_ms === null || (step_ms !== null && step_ms < this.#step_ms * 0.7)) this.breakOff();
    this.#step_ms = step_ms;
  }

  /** What the ring has does not lead up to what comes next. */
  breakOff(): void {
    this.seam_ms = Number.POSITIVE_INFINITY;
  }

  /** The broker's clock was set back: what came before it would hide what comes now. */
  forget(): void {
    this.#ring?.clear();
    this.breakOff();
  }

  /** The broker has sent what came until this time. */
  hear(at_ms: number): void {
    if (this.seam_ms === Number.POSITIVE_INFINITY && this.#step_ms !== null) this.seam_ms = at_ms;
  }

  /** Takes a row of `/api/samples`: buckets of `bucket_ms` until `at_ms`, kept in steps of `step_ms`. */
  take(row: Record<string, unknown>, step_ms: number, bucket_ms: number, at_ms: number): void {
    const times = array(row, "t");
    const last = array(row, "last");
    const min = Array.isArray(row["min"]) && row["min"].length === times.length ? row["min"] : last;
    const max = Array.isArray(row["max"]) && row["max"].length === times.length ? row["max"] : last;
    this.#ring ??= new SampleRing();
    for (let at = 0; at < times.length; at += 1) {
      const value = last[at];
      const time_ms = asNumber(times[at]);
      if (typeof value === "string" && Number.isNaN(asNumber(value))) this.#ring.appendText(time_ms, value);
      else this.#ring.append(endOfBucket(time_ms, bucket_ms, at_ms), asNumber(min[at]), asNumber(max[at]), asNumber(value), step_ms);
    }
    this.revision += 1;
  }

  keep(page: HistoryPage, asked: Stretch, isCoarse: boolean, local_ms: number): void {
    this.#cuts = page.is_cut ? this.#cuts + 1 : 0;
    this.again_at_ms = page.is_cut ? local_ms + Math.min(CUT_MS_MAX, CUT_MS * 2 ** this.#cuts) : Number.POSITIVE_INFINITY;
    if (isCoarse) this.coarse = { page, asked };
    else this.fine = { page, asked };
    this.revision += 1;
  }

  exactAt(at_ms: number): bigint | null {
    const page = this.fine?.page;
    if (!page?.exact || at_ms > page.to_ms) return null;
    const at = upperBound(page.times, page.times.length, at_ms) - 1;
    return at < 0 ? null : page.exact.first_ns + BigInt(page.exact.after_ns[at]!);
  }

  /** Put together anew only if there are other samples or another time. */
  slice(view: ShownView | null): SeriesSlice {
    if (view === null) return this.#slice;
    const [revision, from_ms, to_ms] = this.#sliceOf;
    if (revision === this.revision && from_ms === view.from_ms && to_ms === view.to_ms) return this.#slice;
    this.#sliceOf = [this.revision, view.from_ms, view.to_ms];
    this.#slice.clear();
    this.#compose(view);
    return this.#slice;
  }

  /** Coarse where there is nothing better, then fine, then what came live. */
  #compose(view: ShownView): void {
    const ring = this.#ring;
    const end_ms = view.to_ms + (view.to_ms - view.from_ms) * 0.02;
    const fine = this.fine && overlaps(this.fine.asked, view) ? this.fine : null;
    const isRingBest = view.mode === "live" || (fine !== null && fine.page.step_ms > this.#ringStep_ms * 0.75);
    const cut_ms = ring && ring.length > 0 && isRingBest ? this.#ringBegin(ring, view) : end_ms;
    if (this.coarse) this.#slice.addPage(this.coarse.page, view.from_ms, Math.min(cut_ms, fine?.asked.from_ms ?? cut_ms));
    if (fine) this.#slice.addPage(fine.page, view.from_ms, Math.min(cut_ms, end_ms));
    if (this.coarse && fine) this.#slice.addPage(this.coarse.page, fine.asked.to_ms, cut_ms);
    if (ring) this.#slice.addRing(ring, view.from_ms, end_ms, this.#ringStep_ms);
  }

  /** Where the ring takes over from the pages: where it was heard without a break since the page ends. */
  #ringBegin(ring: SampleRing, view: ShownView): number {
    const until_ms = this.fine?.asked.to_ms ?? Number.NEGATIVE_INFINITY;
    const isHealed = until_ms >= this.seam_ms - slackOf(view);
    return isHealed ? Math.max(Math.min(this.seam_ms, until_ms), ring.oldest_ms) : ring.oldest_ms;
  }
}

function overlaps(asked: Stretch, view: ShownView): boolean {
  return asked.from_ms < view.to_ms && asked.to_ms > view.from_ms;
}
