// The newest active alarms in one strip, for a page that is about something else, and how many wait for somebody.
import type { AlarmStore } from "../model/alarm-store.ts";
import { levelMark, parameterAddress, reason } from "../model/alarm-wording.ts";
import type { AlarmSummary, ShownAlarm } from "../model/contract.ts";
import { counted, legible } from "../model/wording.ts";
import type { AlarmActs } from "./alarm-acts.ts";
import { button } from "./alarm-card.ts";
import { element, setText } from "./page.ts";

const SHOWN = 4;

export class AlarmStrip {
  readonly element = element("section", "panel alarm-strip");
  readonly #said = element("a", "alarm-strip-said");
  readonly #list = element("ul", "alarm-strip-list");
  readonly #store: AlarmStore;
  readonly #acts: AlarmActs;
  #drawn: readonly ShownAlarm[] | null = null;

  constructor(store: AlarmStore, acts: AlarmActs) {
    this.#store = store;
    this.#acts = acts;
    this.element.ariaLabel = "Alarms";
    this.#said.href = "#/alarms";
    this.element.append(this.#said, this.#list);
  }

  /** `local_ms` is any clock that goes on. */
  render(summary: AlarmSummary | null, local_ms: number): void {
    this.#store.follow(summary, local_ms);
    setText(this.#said, alarmCount(summary));
    if (this.#drawn === this.#store.alarms) return;
    this.#drawn = this.#store.alarms;
    const active = this.#drawn.filter((one) => one.state === "active" && one.shelved_until_ms === null);
    const newest = active.sort((one, other) => other.began_ms - one.began_ms).slice(0, SHOWN);
    this.#list.replaceChildren(...newest.map((alarm) => this.#item(alarm)));
  }

  #item(alarm: ShownAlarm): HTMLLIElement {
    const item = element("li");
    item.dataset["level"] = alarm.level;
    const mark = element("span", "alarm-mark", levelMark(alarm));
    mark.ariaHidden = "true";
    const name = element("a", "alarm-name", legible(alarm.parameter));
    name.href = parameterAddress(alarm.parameter);
    item.append(mark, element("span", "alarm-level", alarm.level), name, element("span", "note", reason(alarm)));
    if (alarm.acknowledged_ms === null && this.#acts.mayAct()) {
      const acknowledge = button("Acknowledge");
      acknowledge.ariaLabel = `Acknowledge ${legible(alarm.parameter)} ${alarm.limit}`;
      acknowledge.addEventListener("click", () => void this.#acts.act("acknowledge", [alarm]));
      item.append(acknowledge);
    }
    return item;
  }
}

/** `3 active alarms, 2 of them not acknowledged`. */
export function alarmCount(summary: AlarmSummary | null): string {
  if (summary === null || (summary.active === 0 && summary.unacknowledged === 0)) return "No alarms";
  return `${counted(summary.active, "active alarm")}, ${summary.unacknowledged} not acknowledged`;
}
