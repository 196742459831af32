// The alarms of one parameter, in short; the page of alarms has all of them. Nothing is acknowledged here.
import type { ShownAlarm } from "../model/contract.ts";
import { legible, timeOfDay } from "../model/wording.ts";
import { element } from "./page.ts";

const SHOWN_MAX = 5;

export class ParameterAlarms {
  readonly root = element("section", "drawer-alarms");
  #said = "";

  constructor() {
    this.root.hidden = true;
  }

  render(alarms: readonly ShownAlarm[]): void {
    const wanted = JSON.stringify(alarms);
    if (wanted === this.#said) return;
    this.#said = wanted;
    this.root.hidden = alarms.length === 0;
    const link = element("a", "", "All alarms");
    link.href = "#/alarms";
    const list = element("ul");
    list.append(...alarms.slice(0, SHOWN_MAX).map(row));
    this.root.replaceChildren(element("h4", "", "Alarms"), list, link);
  }
}

function row({ level, limit, threshold, state, began_ms, acknowledged_by, shelved_by }: ShownAlarm): HTMLElement {
  const beyond = `${limit.startsWith("low") ? "below" : "above"} ${threshold ?? "a limit"}`;
  const seen = shelved_by !== null ? ", shelved" : acknowledged_by === null ? ", not acknowledged" : `, acknowledged by ${legible(acknowledged_by)}`;
  const made = element("li", "", `${level}: ${beyond} since ${timeOfDay(began_ms)}, ${state}${seen}`);
  made.dataset["level"] = level;
  return made;
}
