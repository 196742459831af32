// A log: what texts said in the shown time, and the broker's events as they come. Bounded; text goes in as text only.
import { eventLines, type LogLine, newestFirst, textLines } from "../model/log-lines.ts";
import { labels } from "../model/relative-names.ts";
import { timeText } from "../model/time-axis.ts";
import { legible } from "../model/wording.ts";
import { element, setData, setText } from "../views/page.ts";
import { Instrument } from "./instrument.ts";
import type { WidgetContext, WidgetSpec } from "./widget.ts";
import { readingOf } from "./widget-reading.ts";

const NAMES_MAX = 12;
const COLUMNS = 400;
const SOURCE_CHARACTERS = 22;
const TEXT_CHARACTERS = 300;

export class LogWidget extends Instrument {
  readonly #list = element("ol", "log-lines");
  readonly #empty = element("p", "why");
  readonly #labels: readonly string[];
  readonly #showsEvents: boolean;
  #drawn = "";

  constructor(spec: WidgetSpec, context: WidgetContext) {
    super(spec, context, NAMES_MAX);
    this.#showsEvents = this.options["source"] === "events" || this.names().length === 0;
    this.#labels = labels(this.names(), SOURCE_CHARACTERS);
    const scroll = element("div", "instrument-scroll");
    scroll.tabIndex = 0;
    scroll.role = "log";
    scroll.ariaLabel = "Log";
    scroll.append(this.#list, this.#empty);
    this.element.append(scroll);
  }

  override get columns(): number {
    return COLUMNS;
  }

  protected draw(shown_ms: number, now_ms: number): void {
    const { series, time, state } = this.context;
    const { from_ms } = time.window(now_ms);
    const readings = this.names().map((name) => readingOf(name, this.context, shown_ms));
    setData(this.element, "severity", readings.find(({ severity }) => severity !== "good")?.severity ?? "good");
    const revisions = this.names().map((name) => series.revision(name));
    // Live, lines come only with samples and events; else the time itself decides which there are.
    const at = time.mode === "live" ? 0 : Math.floor(shown_ms / 250);
    const wanted = JSON.stringify([revisions, state.events.revision, time.revision, at]);
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    const texts = this.names().flatMap((name, row) => textLines(this.#labels[row] ?? "", series.slice(name), from_ms, shown_ms));
    const begin_ms = time.mode === "live" ? Number.NEGATIVE_INFINITY : from_ms;
    const events = this.#showsEvents ? eventLines(state.events.newestFirst, begin_ms, time.mode === "live" ? Number.POSITIVE_INFINITY : shown_ms) : [];
    this.#show(newestFirst([...texts, ...events]));
  }

  #show(lines: readonly LogLine[]): void {
    this.#list.replaceChildren(...lines.map(item));
    setText(this.#empty, lines.length > 0 ? "" : this.#nothing());
  }

  #nothing(): string {
    if (!this.#showsEvents) return "No text in the shown time.";
    return this.context.time.mode === "live" ? "No events yet." : "No events are kept of the shown time.";
  }
}

function item({ at_ms, level, source, text }: LogLine): HTMLLIElement {
  const made = element("li");
  made.dataset["level"] = level;
  const whole = timeText(at_ms, 10_000);
  const time = element("time", "", whole.slice(11, 19));
  time.title = `${whole} UTC`;
  const from = element("span", "log-source", legible(source));
  const said = element("span", "log-text", legible(text.slice(0, TEXT_CHARACTERS)));
  made.append(time, from, said);
  return made;
}
