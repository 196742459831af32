// The time that is shown, in UTC, and whether it is live. What is replayed is marked on every page.
import type { TimeControl, TimeMode } from "../model/time-control.ts";
import { element, part, setData, setText } from "../views/page.ts";

const WORDS: Record<TimeMode, string> = { live: "LIVE", paused: "PAUSED", replay: "REPLAY" };

export class ClockChip {
  readonly #clock = part("clock");
  readonly #mode = part("time-mode");
  readonly #ofNow = part("page-of-now");

  constructor(time: TimeControl, moved: () => void) {
    const live = element("button", "plot-deed", "Go live");
    live.type = "button";
    live.addEventListener("click", () => {
      time.goLive();
      moved();
    });
    this.#ofNow.append("This page shows now, not the time above. ", live);
  }

  /** `isFollowed`: the page shows that time; another one shows now, and has to say so. */
  render(time: TimeControl, live_ms: number | null, isFollowed: boolean): void {
    this.#ofNow.hidden = isFollowed || time.mode === "live";
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
