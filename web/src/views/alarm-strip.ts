// The newest active alarms in one strip, then those that ended and wait for somebody, for a page that is about something
// else.
import { type AlarmGroup, alarmGroups, waiting } from "../model/alarm-groups.ts";
import type { AlarmStore } from "../model/alarm-store.ts";
import { levelMark, parameterAddress, reason } from "../model/alarm-wording.ts";
import type { AlarmSummary, ShownAlarm } from "../model/contract.ts";
import { counted, legible, timeOfDay } from "../model/wording.ts";
import type { AlarmActs } from "./alarm-acts.ts";
import { button } from "./alarm-card.ts";
import { element, setText } from "./page.ts";

const SHOWN = 4;

export class AlarmStrip {
  readonly #said = element("a", "alarm-strip-said");
  readonly #list = element("ul", "alarm-strip-list");
  readonly #store: AlarmStore;
  readonly #acts: AlarmActs;
  #drawn: readonly ShownAlarm[] | null = null;

  /** `root` is the element that it fills. */
  constructor(root: HTMLElement, store: AlarmStore, acts: AlarmActs) {
    this.#store = store;
    this.#acts = acts;
    this.#said.href = "#/alarms";
    root.append(this.#said, this.#list);
  }

  /** `local_ms` is any clock that goes on. */
  render(summary: AlarmSummary | null, local_ms: number): void {
    this.#store.follow(summary, local_ms);
    setText(this.#said, alarmCount(summary));
    if (this.#drawn === this.#store.alarms) return;
    this.#drawn = this.#store.alarms;
    const told = alarmGroups(this.#drawn.filter((one) => one.shelved_until_ms === null));
    const isActive = ({ worst }: AlarmGroup) => worst.state === "active";
    const shown = told.filter((one) => isActive(one) || waiting(one).length > 0).sort(
      (one, other) => Number(isActive(other)) - Number(isActive(one)) || other.worst.began_ms - one.worst.began_ms,
    );
    this.#list.replaceChildren(...shown.slice(0, SHOWN).map((group) => this.#item(group)));
  }

  #item(group: AlarmGroup): HTMLLIElement {
    const { worst } = group;
    const item = element("li");
    item.dataset["level"] = worst.level;
    const mark = element("span", "alarm-mark", levelMark(worst));
    mark.ariaHidden = "true";
    const name = element("a", "alarm-name", legible(worst.parameter));
    name.href = parameterAddress(worst.parameter);
    const ended = worst.ended_ms === null ? "" : `, ended ${timeOfDay(worst.ended_ms)}`;
    item.append(mark, element("span", "alarm-level", worst.level), name, element("span", "note", reason(worst) + ended));
    if (waiting(group).length > 0 && this.#acts.mayAct()) {
      const acknowledge = button("Acknowledge");
      acknowledge.ariaLabel = `Acknowledge ${legible(worst.parameter)} ${worst.limit}`;
      acknowledge.addEventListener("click", () => void this.#acts.act("acknowledge", waiting(group)));
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
