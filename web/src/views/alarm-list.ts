// A list of alarms whose items stay the same elements while their alarms do.
import type { ShownAlarm } from "../model/contract.ts";
import type { AlarmActs } from "./alarm-acts.ts";
import { AlarmCard } from "./alarm-card.ts";
import { element } from "./page.ts";

export class AlarmList {
  readonly element = element("ul", "alarm-list");
  readonly #acts: AlarmActs;
  readonly #cards = new Map<string, AlarmCard>();

  constructor(label: string, acts: AlarmActs) {
    this.#acts = acts;
    this.element.ariaLabel = label;
  }

  render(alarms: readonly ShownAlarm[], now_ms: number): void {
    const present = new Set(alarms.map(({ id }) => id));
    for (const [id, card] of this.#cards) {
      if (present.has(id)) continue;
      card.item.remove();
      this.#cards.delete(id);
    }
    alarms.forEach((alarm, at) => {
      const card = this.#cards.get(alarm.id) ?? new AlarmCard(alarm, this.#acts);
      this.#cards.set(alarm.id, card);
      const { children } = this.element;
      if (children[at] !== card.item) this.element.insertBefore(card.item, children[at] ?? null);
      card.render(alarm, now_ms);
    });
  }
}
