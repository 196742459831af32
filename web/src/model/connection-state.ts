// The state of the connection to the broker, the time to the next attempt, and the words for it.
import { age } from "./wording.ts";

export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  /** Closed while nobody looks at the page. */
  | { readonly kind: "paused" }
  | { readonly kind: "waiting"; readonly retry_at_ms: number };

export type ConnectionCondition = "connecting" | "live" | "silent" | "reconnecting" | "lost";

export interface Freshness {
  readonly condition: ConnectionCondition;
  /** What the header says. */
  readonly text: string;
  /** True when what is shown may be out of date. */
  readonly stale: boolean;
  /** How old the shown data is, in words; null before the first message. */
  readonly shown_age: string | null;
}

const STALE_AFTER_MS = 2_000;
const LOST_AFTER_MS = 60_000;
const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 10_000;

/** Doubles up to a bound; `chance` in [0, 1) spreads many pages over the time after a restart. */
export function retryDelayMs(attempt: number, chance: number): number {
  return Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** attempt) * (0.75 + chance / 2);
}

export function freshness(state: ConnectionState, heard_at_ms: number | null, now_ms: number): Freshness {
  const silence_ms = heard_at_ms === null ? null : now_ms - heard_at_ms;
  const stale = silence_ms !== null && silence_ms > STALE_AFTER_MS;
  const condition = conditionOf(state, silence_ms);
  const shown_age = silence_ms === null ? null : age(silence_ms);
  return { condition, text: describe(condition, state, now_ms, shown_age), stale, shown_age };
}

function conditionOf(state: ConnectionState, silence_ms: number | null): ConnectionCondition {
  if (silence_ms === null) return state.kind === "waiting" ? "reconnecting" : "connecting";
  if (state.kind === "open") return silence_ms > STALE_AFTER_MS ? "silent" : "live";
  return silence_ms > LOST_AFTER_MS ? "lost" : "reconnecting";
}

function describe(condition: ConnectionCondition, state: ConnectionState, now_ms: number, shown_age: string | null): string {
  if (condition === "connecting") return "connecting";
  if (condition === "live") return "live";
  if (condition === "silent") return `nothing new for ${shown_age}`;
  const attempt = state.kind === "waiting" ? `in ${secondsUntil(state.retry_at_ms, now_ms)} s` : "now";
  return condition === "lost" ? `lost, trying again ${attempt}` : `reconnecting ${attempt}`;
}

function secondsUntil(at_ms: number, now_ms: number): number {
  return Math.max(0, Math.ceil((at_ms - now_ms) / 1_000));
}
