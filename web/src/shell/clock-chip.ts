// The time that is shown, in UTC, and whether it is live. What is replayed is marked on every page.
import type { TimeControl, TimeMode } from "../model/time-control.ts";
import { part, setData, setText } from "../views/page.ts";

const WORDS: Record<TimeMode, string> = { live: "LIVE", paused: "PAUSED", replay: "REPLAY" };

export class ClockChip {
  readonly #clock = part("clock");
  readonly #mode = part("time-mode");

  render(time: TimeControl, live_ms: number | null): void {
    setText(this.#clock, live_ms === null ? "–" : utcText(time.shown(live_ms)));
    setText(this.#mode, time.mode === "replay" ? `${WORDS.replay} ${time.speed}×` : WORDS[time.mode]);
    setData(this.#mode, "mode", time.mode);
    setData(document.body, "time", time.mode);
  }
}

/** Live times to the second; the day is there because a replay may be of another one. */
export function utcText(at_ms: number): string {
  return `${new Date(at_ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
