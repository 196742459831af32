// Which time the console shows: now, a time that stands still, or the past played again. It reads no clock.

export type TimeMode = "live" | "paused" | "replay";

export interface ShownWindow {
  from_ms: number;
  to_ms: number;
}

export const SPEED_MIN = 0.1;
export const SPEED_MAX = 100;
/** A millisecond fills the screen, or a year. */
export const SPAN_MS_MIN = 1;
export const SPAN_MS_MAX = 366 * 86_400_000;
export const SPAN_MS_START = 5 * 60_000;

export class TimeControl {
  #mode: TimeMode = "live";
  #span_ms = SPAN_MS_START;
  #speed = 1;
  /** The shown time when it was last set, and the broker's time at that moment. */
  #anchor_ms = 0;
  #set_at_ms = 0;
  #revision = 0;

  get mode(): TimeMode {
    return this.#mode;
  }

  get speed(): number {
    return this.#speed;
  }

  get span_ms(): number {
    return this.#span_ms;
  }

  /** Another number after each act of a person; what follows the time looks again. */
  get revision(): number {
    return this.#revision;
  }

  /** The end of what is shown. `live_ms` is the broker's clock. A replay that reaches now is live. */
  shown(live_ms: number): number {
    if (this.#mode === "live") return live_ms;
    if (this.#mode === "paused") return this.#anchor_ms;
    const at_ms = this.#anchor_ms + (live_ms - this.#set_at_ms) * this.#speed;
    if (at_ms < live_ms) return at_ms;
    this.goLive();
    return live_ms;
  }

  window(live_ms: number): ShownWindow {
    const to_ms = this.shown(live_ms);
    return { from_ms: to_ms - this.#span_ms, to_ms };
  }

  goLive(): void {
    this.#set("live", 0, 0);
  }

  /** Stands still at what is shown. */
  pause(live_ms: number): void {
    this.#set("paused", this.shown(live_ms), live_ms);
  }

  /** Shows another time, and stands still there unless it plays. */
  seek(at_ms: number, live_ms: number): void {
    this.#set(this.#mode === "replay" ? "replay" : "paused", Math.min(at_ms, live_ms), live_ms);
  }

  /** Plays from what is shown. */
  play(speed: number, live_ms: number): void {
    const from_ms = this.shown(live_ms);
    this.#speed = clamp(speed, SPEED_MIN, SPEED_MAX);
    this.#set("replay", from_ms, live_ms);
  }

  setSpan(span_ms: number): void {
    this.#span_ms = clamp(span_ms, SPAN_MS_MIN, SPAN_MS_MAX);
    this.#revision += 1;
  }

  /** Shows a window that a person has chosen. One that reaches now stays live if it was. */
  showWindow(from_ms: number, to_ms: number, live_ms: number): void {
    const span_ms = clamp(to_ms - from_ms, SPAN_MS_MIN, SPAN_MS_MAX);
    this.#span_ms = span_ms;
    if (this.#mode === "live" && to_ms >= live_ms) this.#revision += 1;
    else this.seek(to_ms, live_ms);
  }

  /** A longer or shorter window, in which a time stays where it is; of a live one that is now. */
  zoom(factor: number, around_ms: number, live_ms: number): void {
    const to_ms = this.shown(live_ms);
    const span_ms = clamp(this.#span_ms * factor, SPAN_MS_MIN, SPAN_MS_MAX);
    const scale = span_ms / this.#span_ms;
    if (this.#mode === "live") this.setSpan(span_ms);
    else this.showWindow(around_ms + (to_ms - this.#span_ms - around_ms) * scale, around_ms + (to_ms - around_ms) * scale, live_ms);
  }

  /** Earlier by so much, or later if it is positive. What was live stands still then. */
  move(by_ms: number, live_ms: number): void {
    const to_ms = this.shown(live_ms) + by_ms;
    if (this.#mode === "live" && by_ms >= 0) return;
    this.seek(to_ms, live_ms);
  }

  #set(mode: TimeMode, at_ms: number, live_ms: number): void {
    this.#mode = mode;
    this.#anchor_ms = at_ms;
    this.#set_at_ms = live_ms;
    this.#revision += 1;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
