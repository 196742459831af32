// Alarms: those that wait for somebody first, then the others, and the history. Opens no connection of its own.
import { alarmGroups, type AlarmGroup } from "../model/alarm-groups.ts";
import type { AlarmStore } from "../model/alarm-store.ts";
import { announcement } from "../model/alarm-wording.ts";
import type { ConsoleVisitor, ShownAlarm } from "../model/contract.ts";
import { may } from "../model/visitor-wording.ts";
import { count, counted } from "../model/wording.ts";
import { AlarmActs } from "../views/alarm-acts.ts";
import { button } from "../views/alarm-card.ts";
import { AlarmList } from "../views/alarm-list.ts";
import { alarmCount } from "../views/alarm-strip.ts";
import { element, explain, setText } from "../views/page.ts";
import type { Page, PageContext } from "./page.ts";

export class AlarmsPage implements Page {
  readonly path = "alarms";
  readonly title = "Alarms";
  readonly #store: AlarmStore;
  readonly #acts: AlarmActs;
  readonly #panel = element("section", "panel alarms");
  readonly #figures = element("p", "note");
  readonly #said = element("p", "note");
  readonly #news = element("p", "unseen");
  readonly #all = button("Acknowledge all");
  readonly #list: AlarmList;
  readonly #empty = element("div", "empty");
  readonly #history = element("details", "alarm-history");
  readonly #past: AlarmList;
  #gone: readonly AlarmGroup[] = [];
  /** The revision of the list when the history was asked for. */
  #gone_of = -1;
  #context: PageContext | null = null;

  constructor(store: AlarmStore, visitor: () => ConsoleVisitor | null) {
    this.#store = store;
    this.#acts = new AlarmActs(store, () => may(visitor(), "alarms"), (words) => setText(this.#said, words));
    this.#list = new AlarmList("Alarms", this.#acts);
    this.#past = new AlarmList("History", new AlarmActs(store, () => false));
    this.#said.role = "status";
    this.#news.role = "status";
    this.#news.ariaLive = "polite";
    this.#all.addEventListener("click", () => void this.#acts.act("acknowledge", this.#waiting()));
    const head = element("div", "panel-head");
    head.append(element("h2", "", "Alarms"), this.#figures, this.#said, this.#all);
    this.#history.append(element("summary", "", "History"), this.#past.element);
    this.#history.addEventListener("toggle", () => void this.#loadHistory());
    this.#panel.append(head, this.#news, this.#empty, this.#list.element, this.#history);
  }

  show(root: HTMLElement, context: PageContext): void {
    this.#context = context;
    if (!this.#panel.isConnected) root.append(this.#panel);
    setText(this.#said, "");
    void this.#store.load();
    void this.#loadHistory();
  }

  render(now_ms: number): void {
    if (this.#context === null) return;
    const summary = this.#context.state.latest?.alarms ?? null;
    this.#store.follow(summary, performance.now());
    const { alarms, total } = this.#store;
    const groups = alarmGroups(alarms);
    setText(this.#figures, extent(alarms.length, total, groups.length, alarmCount(summary)));
    const fresh = announcement(this.#store.takeFresh());
    if (fresh) setText(this.#news, fresh);
    this.#all.hidden = !this.#acts.mayAct() || this.#waiting().length < 2;
    this.#list.render(groups, now_ms);
    this.#empty.hidden = alarms.length > 0;
    explain(this.#empty, this.#store.hasLoaded ? "No alarms: every value is within its limits." : "Alarms are being asked for.");
    if (!this.#history.open) return;
    if (this.#gone_of !== this.#store.revision) void this.#loadHistory();
    this.#past.render(this.#gone, now_ms);
  }

  hide(): void {
    this.#context = null;
  }

  #waiting(): readonly ShownAlarm[] {
    return this.#store.alarms.filter((one) => one.acknowledged_ms === null);
  }

  async #loadHistory(): Promise<void> {
    if (!this.#history.open) return;
    this.#gone_of = this.#store.revision;
    // Each of the past is of its own time.
    this.#gone = (await this.#store.history()).map((one, at) => ({ key: `${one.id} ${at}`, worst: one, alarms: [one] }));
    this.#context?.requestRender();
  }
}

/** Two alarms of one cause are one row: who counts rows is told why they are fewer. */
function extent(listed: number, total: number, rows: number, said: string): string {
  if (total > listed) return `the first ${count(listed)} of ${count(total)}`;
  return rows < listed ? `${said}; ${counted(rows, "row")}: both levels of a limit are one` : said;
}
