// Decides which stretch of the past to ask for, and whether what is here is enough. Pure.
import type { TimeMode } from "./time-control.ts";

/** What the broker gives at most. */
export const WIDTH_MAX = 4_000;
/** Beside what is shown, so that a small move needs no request. */
const MARGIN = 0.25;
/** A replay asks for so much of its future. */
const LEAD_S = 4;
/** A replay that has nearly reached now does without the newest: else it would ask with every frame. */
const EDGE_MS = 500;
/** Shown until the fine page is here, and beside it while the view moves. */
const COARSE_WIDTH = 400;
const COARSE_MARGIN = 2;
/** A shorter stretch is read at once: no coarse page first. */
const COARSE_SPAN_MS_MIN = 10 * 60_000;
/** The broker's buckets have round lengths: up to two columns long where one is asked for. */
const BUCKETS_A_COLUMN = 2;
/** A page whose buckets are a little wider than a pixel will do. */
const STEP_SLACK = 1.5;

/** What is on the screen. */
export interface ShownView {
  readonly mode: TimeMode;
  readonly from_ms: number;
  readonly to_ms: number;
  /** Seconds of a replay for each second. */
  readonly speed: number;
  /** The broker's clock. */
  readonly live_ms: number;
  /** Columns of the widest widget. */
  readonly width: number;
}

/** A stretch of the past, in so many buckets. */
export interface Stretch {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly width: number;
}

export function stepOf({ from_ms, to_ms, width }: Stretch): number {
  return (to_ms - from_ms) / Math.max(1, width);
}

/** The stretch to ask for so that the view can be drawn with all its pixels. */
export function fineStretch(view: ShownView): Stretch {
  const span_ms = view.to_ms - view.from_ms;
  const before_ms = view.mode === "paused" ? span_ms * MARGIN : 0;
  const ahead_ms = view.mode === "live" ? 0 : Math.max(span_ms * MARGIN, leadOf(view));
  const from_ms = view.from_ms - before_ms;
  const to_ms = Math.max(from_ms + 1, Math.min(view.to_ms + ahead_ms, view.live_ms));
  const width = Math.ceil((BUCKETS_A_COLUMN * view.width * (to_ms - from_ms)) / span_ms);
  return { from_ms, to_ms, width: Math.min(WIDTH_MAX, Math.max(1, width)) };
}

/** The surroundings of the view, in few buckets. */
export function coarseStretch(view: ShownView): Stretch {
  const margin_ms = (view.to_ms - view.from_ms) * COARSE_MARGIN;
  const from_ms = view.from_ms - margin_ms;
  return { from_ms, to_ms: Math.max(from_ms + 1, Math.min(view.to_ms + margin_ms, view.live_ms)), width: COARSE_WIDTH };
}

/** `seam_ms`: from then on samples came live; `isExact`: the page holds single samples. */
export function isEnough(held: Stretch | null, isExact: boolean, view: ShownView, seam_ms: number): boolean {
  if (held === null) return false;
  const step_ms = (view.to_ms - view.from_ms) / view.width;
  if (view.mode === "live" && view.from_ms >= seam_ms) return true;
  const until_ms = view.mode === "live" ? Math.min(view.to_ms, seam_ms) - slackOf(view) : Math.min(leadUntil(view), edgeOf(view));
  const isFine = isExact || stepOf(held) <= Math.max(step_ms * STEP_SLACK, stepOf(fineStretch(view)) * STEP_SLACK);
  return isFine && held.from_ms <= view.from_ms && held.to_ms >= until_ms;
}

/** A page may end so long before samples came live: nobody sees the hole. */
export function slackOf({ from_ms, to_ms, width }: ShownView): number {
  return (2 * (to_ms - from_ms)) / width;
}

/** Whether a coarse page comes first: a long stretch of which little is here. */
export function wantsCoarse(fine: Stretch | null, coarse: Stretch | null, view: ShownView): boolean {
  if (view.to_ms - view.from_ms < COARSE_SPAN_MS_MIN) return false;
  const covers = (held: Stretch | null) => held !== null && held.from_ms <= view.from_ms && held.to_ms >= Math.min(view.to_ms, view.live_ms);
  return !covers(fine) && !covers(coarse) && view.mode !== "live";
}

/** Whether an answer to this request would still be of use. */
export function isWorthWaiting(asked: Stretch, view: ShownView): boolean {
  const span_ms = view.to_ms - view.from_ms;
  const shared_ms = Math.min(asked.to_ms, view.to_ms) - Math.max(asked.from_ms, view.from_ms);
  return shared_ms > span_ms / 2 && asked.to_ms - asked.from_ms < span_ms * 16;
}

/** A replay needs half of its lead before it asks for more. */
function leadUntil(view: ShownView): number {
  return view.mode === "replay" ? view.to_ms + leadOf(view) / 2 : view.to_ms;
}

/** There is nothing to ask for that is newer. */
function edgeOf({ mode, live_ms }: ShownView): number {
  return mode === "replay" ? live_ms - EDGE_MS : live_ms;
}

function leadOf({ mode, speed }: ShownView): number {
  return mode === "replay" ? speed * LEAD_S * 1_000 : 0;
}
