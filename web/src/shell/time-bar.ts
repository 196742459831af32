// The one control of time: live, pause, any time of the past, replay and its speed, and how much is shown. It draws no data.
import { spanText, timeText } from "../model/time-axis.ts";
import { readTime } from "../model/time-address.ts";
import { SPAN_MS_START, type TimeControl } from "../model/time-control.ts";
import { element, part, setData, setText } from "../views/page.ts";

export interface TimeRange {
  readonly from_ms: number;
  readonly to_ms: number;
}

interface TimeBarActions {
  /** Which times can be asked for; null if the broker does not say. */
  fetchRange: () => Promise<TimeRange | null>;
  moved: () => void;
}

export const SPANS_MS = [
  1_000, 5_000, 10_000, 30_000, 60_000, SPAN_MS_START, 15 * 60_000, 30 * 60_000, 3_600_000, 3 * 3_600_000, 6 * 3_600_000, 12 * 3_600_000,
  86_400_000, 7 * 86_400_000, 30 * 86_400_000, 365 * 86_400_000,
];
const SPAN_WORDS = ["1 s", "5 s", "10 s", "30 s", "1 min", "5 min", "15 min", "30 min", "1 h", "3 h", "6 h", "12 h", "1 d", "7 d", "30 d", "1 y"];
export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const RANGE_AGAIN_MS = 20_000;
/** The slider's own unit: parts of the range. */
const SLIDER_PARTS = 100_000;

export class TimeBar {
  readonly #root = part("time-bar");
  readonly #time: TimeControl;
  readonly #actions: TimeBarActions;
  readonly #live = button("Live", "Follow what comes (L)");
  readonly #play = button("Pause", "Stand still, or play on (space)");
  readonly #back = button("◀", "Back by a quarter of what is shown (left arrow)");
  readonly #on = button("▶", "On by a quarter of what is shown (right arrow)");
  readonly #speed = element("select");
  readonly #slider = element("input");
  readonly #field = element("input");
  readonly #span = element("select");
  readonly #said = element("p", "time-said");
  #range: TimeRange | null = null;
  #asked_at_ms = Number.NEGATIVE_INFINITY;
  #live_ms = 0;
  /** A person writes in the field, or is about to: the time that goes on must not change what they write. */
  #isWriting = false;

  constructor(time: TimeControl, actions: TimeBarActions) {
    this.#time = time;
    this.#actions = actions;
    this.#fill();
    this.#listen();
  }

  show(isShown: boolean): void {
    this.#root.hidden = !isShown;
  }

  get isShown(): boolean {
    return !this.#root.hidden;
  }

  render(live_ms: number | null): void {
    if (live_ms === null || this.#root.hidden) return;
    this.#live_ms = live_ms;
    const { mode, span_ms } = this.#time;
    const shown_ms = this.#time.shown(live_ms);
    setData(this.#root, "mode", mode);
    this.#live.ariaPressed = String(mode === "live");
    setText(this.#play, mode === "paused" ? "Play" : "Pause");
    this.#on.disabled = mode === "live";
    this.#renderSlider(shown_ms, live_ms);
    if (!this.#isWriting) this.#field.value = timeText(shown_ms, SPAN_MS_START);
    select(this.#speed, String(this.#time.speed), `${this.#time.speed}×`);
    select(this.#span, String(span_ms), spanText(span_ms));
    setText(this.#said, said(mode, live_ms - shown_ms));
    if (live_ms - this.#asked_at_ms > RANGE_AGAIN_MS) void this.#ask(live_ms);
  }

  /** What can be asked for; it begins with the oldest sample. */
  get range(): TimeRange | null {
    return this.#range;
  }

  async #ask(live_ms: number): Promise<void> {
    this.#asked_at_ms = live_ms;
    this.#range = (await this.#actions.fetchRange().catch(() => null)) ?? this.#range;
  }

  #renderSlider(shown_ms: number, live_ms: number): void {
    const from_ms = this.#range?.from_ms ?? live_ms - 3_600_000;
    const share = (shown_ms - from_ms) / Math.max(1, live_ms - from_ms);
    if (document.activeElement !== this.#slider || this.#time.mode !== "paused") {
      this.#slider.value = String(Math.round(Math.min(1, Math.max(0, share)) * SLIDER_PARTS));
    }
    this.#slider.ariaValueText = `${timeText(shown_ms, 60_000)} UTC`;
  }

  #listen(): void {
    const act = (change: (live_ms: number) => void) => () => {
      change(this.#live_ms);
      this.#actions.moved();
    };
    this.#live.addEventListener("click", act(() => this.#time.goLive()));
    this.#play.addEventListener("click", act((live_ms) => togglePlay(this.#time, live_ms)));
    this.#back.addEventListener("click", act((live_ms) => this.#time.move(-this.#time.span_ms / 4, live_ms)));
    this.#on.addEventListener("click", act((live_ms) => this.#time.move(this.#time.span_ms / 4, live_ms)));
    this.#speed.addEventListener("change", act((live_ms) => this.#choseSpeed(live_ms)));
    this.#span.addEventListener("change", act(() => this.#time.setSpan(Number(this.#span.value))));
    this.#slider.addEventListener("input", act((live_ms) => this.#slid(live_ms)));
    this.#field.addEventListener("change", act((live_ms) => this.#wrote(live_ms)));
    this.#field.addEventListener("input", () => setData(this.#field, "wrong", "no"));
    for (const begin of ["focus", "pointerdown", "input"]) this.#field.addEventListener(begin, () => (this.#isWriting = true));
    this.#field.addEventListener("keydown", ({ key }) => (this.#isWriting ||= key !== "Enter"));
    this.#field.addEventListener("blur", () => {
      this.#isWriting = false;
      setData(this.#field, "wrong", "no"); // the shown time stands there again
    });
  }

  #choseSpeed(live_ms: number): void {
    const speed = Number(this.#speed.value);
    // Now cannot be played faster: the replay begins at the left of what is shown.
    if (this.#time.mode === "live") this.#time.seek(this.#time.window(live_ms).from_ms, live_ms);
    this.#time.play(speed, live_ms);
  }

  #slid(live_ms: number): void {
    const from_ms = this.#range?.from_ms ?? live_ms - 3_600_000;
    const share = Number(this.#slider.value) / SLIDER_PARTS;
    if (share >= 1) this.#time.goLive();
    else this.#time.seek(from_ms + share * (live_ms - from_ms), live_ms);
  }

  #wrote(live_ms: number): void {
    const at_ms = readTime(this.#field.value);
    setData(this.#field, "wrong", at_ms === null ? "yes" : "no");
    if (at_ms === null) return;
    this.#isWriting = false;
    this.#time.seek(at_ms, live_ms);
  }

  #fill(): void {
    Object.assign(this.#slider, { type: "range", min: "0", max: String(SLIDER_PARTS), step: "1", value: String(SLIDER_PARTS) });
    this.#slider.ariaLabel = "The shown time, from the oldest to now";
    Object.assign(this.#field, { type: "text", size: 23, maxLength: 40, autocomplete: "off", title: "The end of what is shown, in UTC" });
    this.#field.spellcheck = false;
    this.#field.ariaLabel = "Shown time in UTC";
    this.#speed.ariaLabel = "Speed of a replay";
    this.#span.ariaLabel = "How much time is shown";
    for (const speed of SPEEDS) this.#speed.append(new Option(`${speed}×`, String(speed)));
    SPANS_MS.forEach((span_ms, at) => this.#span.append(new Option(SPAN_WORDS[at], String(span_ms))));
    this.#live.dataset["act"] = "live";
    this.#play.dataset["act"] = "play";
    this.#said.role = "status";
    const field = element("label", "time-field");
    field.append(this.#field, element("span", "note", "UTC"));
    const group = element("div", "time-acts");
    group.append(this.#live, this.#back, this.#play, this.#on, this.#speed);
    this.#slider.className = "time-slider";
    this.#root.append(group, this.#slider, field, this.#span, this.#said);
  }
}

/** Stands still; what stands still plays on from there at the speed that was chosen last. */
export function togglePlay(time: TimeControl, live_ms: number): void {
  if (time.mode === "paused") time.play(time.speed, live_ms);
  else time.pause(live_ms);
}

function button(text: string, title: string): HTMLButtonElement {
  const made = element("button", "time-button", text);
  made.type = "button";
  made.title = title;
  return made;
}

/** Shows a value that may be none of those that can be chosen. */
function select(node: HTMLSelectElement, value: string, text: string): void {
  if (node.value === value) return;
  node.querySelector("[data-other]")?.remove();
  if (![...node.options].some((option) => option.value === value)) {
    const other = new Option(text, value);
    other.dataset["other"] = "";
    node.append(other);
  }
  node.value = value;
}

function said(mode: string, behind_ms: number): string {
  return mode === "live" ? "" : `${spanText(Math.max(0, Math.round(behind_ms / 1_000) * 1_000))} ago`;
}
