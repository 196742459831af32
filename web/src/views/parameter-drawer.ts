// All about one parameter: its past, statistics, definition, who publishes and reads it, and lines to copy.
import { AlarmsMessage, ParameterMessage } from "../model/contract.ts";
import { type HistoryPage, readHistory } from "../model/history-answer.ts";
import { definitionFacts, peopleFacts, statisticsFacts } from "../model/parameter-facts.ts";
import type { ParameterStore } from "../model/parameter-store.ts";
import { exactText, valueText } from "../model/parameter-value.ts";
import { condition } from "../model/parameter-wording.ts";
import type { GetText } from "../model/rows-past.ts";
import { parse } from "../model/shape.ts";
import { statistics } from "../model/statistics.ts";
import type { TimeControl } from "../model/time-control.ts";
import { age, legible, UNKNOWN } from "../model/wording.ts";
import { CopyLines } from "./copy-lines.ts";
import { FactsList } from "./facts-list.ts";
import { element, setData, setText, setTitle } from "./page.ts";
import { ParameterAlarms } from "./parameter-alarms.ts";
import { PastChart } from "./past-chart.ts";

/** How often the broker is asked while the drawer is open. */
const AGAIN_MS = 2_000;
/** The rate is that of the newest samples, as many as the broker tells one by one. */
const RATE_MS = 10_000;
const RATE_WIDTH = 4_000;

interface DrawerActions {
  readonly get: GetText;
  readonly closed: () => void;
  readonly marked: (name: string) => void;
  /** Asks for a drawing: an answer came. */
  readonly changed: () => void;
  /** Whether the visitor may watch everything. */
  readonly watchesAll: () => boolean;
}

export class ParameterDrawer {
  readonly root = element("aside", "drawer");
  readonly #actions: DrawerActions;
  readonly #name = element("h3", "drawer-name");
  readonly #star = element("button", "star");
  readonly #close = element("button", "close");
  readonly #value = element("p", "drawer-value");
  readonly #state = element("p", "drawer-state");
  readonly #plots = element("a", "", "Open in plots");
  readonly #plot = element("div");
  readonly #statistics = new FactsList();
  readonly #facts = new FactsList();
  readonly #people = new FactsList();
  readonly #alarms = new ParameterAlarms();
  readonly #lines = new CopyLines();
  readonly #body = element("div", "drawer-body");
  readonly #missing = element("p", "note");
  #shown: string | null = null;
  #told: ParameterMessage | null = null;
  #past: HistoryPage | null = null;
  #chart: PastChart | null = null;
  #asked = "";
  #asked_at_ms = 0;
  #alarms_of = "";
  #rate_hz: number | null = null;

  constructor(actions: DrawerActions) {
    this.#actions = actions;
    this.root.id = "parameter-drawer";
    this.root.hidden = true;
    this.root.tabIndex = -1;
    this.#close.type = this.#star.type = "button";
    this.#close.ariaLabel = "Close the details";
    this.#close.addEventListener("click", actions.closed);
    this.#star.addEventListener("click", () => this.#shown !== null && actions.marked(this.#shown));
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") actions.closed();
    });
    const head = element("div", "drawer-head");
    head.append(this.#name, this.#star, this.#close);
    this.#name.id = "parameter-drawer-name";
    this.root.setAttribute("aria-labelledby", this.#name.id);
    this.#body.append(this.#value, this.#state, this.#plot, section("In the shown time", this.#statistics.root));
    this.#body.append(this.#plots, this.#alarms.root, section("What it is", this.#facts.root));
    this.#body.append(section("Who has it", this.#people.root), section("Read it", this.#lines.root));
    this.root.append(head, this.#missing, this.#body);
  }

  /** The parameter that is shown; null for none. */
  get shown(): string | null {
    return this.#shown;
  }

  open(name: string): void {
    if (name === this.#shown) return;
    this.close();
    this.#shown = name;
    this.root.hidden = false;
    const said = legible(name);
    setText(this.#name, said);
    this.#star.ariaLabel = `Favourite: ${said}`;
    this.#plots.href = `#/plots?name=${encodeURIComponent(name)}`;
    setData(this.root, "shown", name);
    this.#body.hidden = true;
    this.#missing.hidden = false;
    setText(this.#missing, "Waiting for the broker.");
    this.#chart = new PastChart(said);
    this.#plot.append(this.#chart.root);
    this.root.scrollTop = 0;
    this.#actions.changed();
  }

  close(): void {
    this.#shown = this.#told = this.#past = this.#rate_hz = null;
    this.#chart?.destroy();
    this.#chart = null;
    this.#asked = "";
    this.root.hidden = true;
  }

  render(store: ParameterStore, time: TimeControl, is_favourite: boolean, now_ms: number, local_ms: number): void {
    const name = this.#shown;
    if (name === null || now_ms === 0) return;
    setText(this.#star, is_favourite ? "★" : "☆");
    this.#star.ariaPressed = String(is_favourite);
    this.#ask(name, time, now_ms, local_ms);
    const told = this.#told;
    if (!told) return;
    this.#renderValue(told, store, time, now_ms);
    this.#renderPast(told, time, now_ms);
    this.#facts.render(definitionFacts(told));
    this.#people.render(peopleFacts(told, this.#actions.watchesAll()));
    this.#lines.render(told.lines);
  }

  #renderValue({ definition, value }: ParameterMessage, store: ParameterStore, time: TimeControl, now_ms: number): void {
    const is_live = time.mode === "live";
    const newest = store.get(definition.name)?.newest ?? null;
    const sample = newest && (value === null || newest.received_ms >= value.received_ms) ? newest : value;
    const unit = definition.unit === null ? "" : ` ${legible(definition.unit)}`;
    setText(this.#value, sample && is_live ? valueText(definition.type, sample.value, definition.range) + unit : UNKNOWN);
    setTitle(this.#value, sample && is_live ? exactText(sample.value) : "");
    const { severity, text } = condition(definition, sample, now_ms);
    setData(this.#state, "severity", is_live ? severity : "doubtful");
    const old = sample ? ` · ${age(now_ms - sample.received_ms)}` : "";
    const exact = sample ? ` · exactly ${exactText(sample.value)}` : "";
    setText(this.#state, is_live ? text + old + exact : "an earlier time is shown: see the plot");
  }

  #renderPast({ definition }: ParameterMessage, time: TimeControl, now_ms: number): void {
    const past = this.#past;
    if (!past) return this.#statistics.render([["Samples", "waiting for the past"]]);
    this.#plot.hidden = past.texts !== null;
    if (past.texts === null) this.#chart?.render(past, definition, time.window(now_ms));
    this.#statistics.render(statisticsFacts(definition, statistics(past), past.step_ms, this.#rate_hz));
  }

  /** Asks again while the drawer is open, and at once when another time is shown. */
  #ask(name: string, time: TimeControl, now_ms: number, local_ms: number): void {
    const key = `${name} ${time.revision}`;
    const is_due = time.mode !== "paused" && local_ms - this.#asked_at_ms >= AGAIN_MS;
    if (key === this.#asked && !is_due) return;
    this.#asked = key;
    this.#asked_at_ms = local_ms;
    const { from_ms, to_ms } = time.window(now_ms);
    const width = Math.min(2_000, Math.round(this.#chart?.width ?? 600));
    void this.#fetchFacts(name);
    void this.#fetchRate(name, `from_ms=${Math.floor(to_ms - RATE_MS)}&to_ms=${Math.ceil(to_ms)}&width=${RATE_WIDTH}`);
    void this.#fetchPast(name, `from_ms=${Math.floor(from_ms)}&to_ms=${Math.ceil(to_ms)}&width=${width}`);
  }

  /** Asks for the alarms when they are others: `revision` is that of the live message. */
  followAlarms(revision: number): void {
    const name = this.#shown;
    const key = `${name} ${revision}`;
    if (name === null || key === this.#alarms_of) return;
    this.#alarms_of = key;
    void this.#fetchAlarms(name);
  }

  async #fetchAlarms(name: string): Promise<void> {
    const text = await this.#actions.get("api/alarms");
    if (name !== this.#shown) return;
    const alarms = text === null ? [] : parse(AlarmsMessage, text).alarms;
    this.#alarms.render(alarms.filter(({ parameter }) => parameter === name));
  }

  async #fetchFacts(name: string): Promise<void> {
    const text = await this.#actions.get(`api/parameters/one?name=${encodeURIComponent(name)}`);
    if (name !== this.#shown) return;
    if (text !== null) this.#told = parse(ParameterMessage, text);
    this.#body.hidden = this.#told === null;
    this.#missing.hidden = this.#told !== null;
    if (this.#told === null) setText(this.#missing, "No parameter has this name, or you may not watch it.");
    this.#actions.changed();
  }

  /** Parts have no number of samples, so the newest ones are counted. */
  async #fetchRate(name: string, range: string): Promise<void> {
    const text = await this.#actions.get(`api/history?name=${encodeURIComponent(name)}&${range}`);
    const page = text === null ? undefined : readHistory(text).pages.get(name);
    if (name === this.#shown) this.#rate_hz = page ? (statistics(page)?.rate_hz ?? null) : null;
  }

  async #fetchPast(name: string, range: string): Promise<void> {
    const text = await this.#actions.get(`api/history?name=${encodeURIComponent(name)}&${range}`);
    if (name !== this.#shown || text === null) return;
    this.#past = readHistory(text).pages.get(name) ?? null;
    this.#actions.changed();
  }
}

function section(title: string, content: HTMLElement): HTMLElement {
  const made = element("section");
  made.append(element("h4", "", title), content);
  return made;
}
