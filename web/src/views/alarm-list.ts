// A list of alarms whose items stay the same elements while their alarms do.
import type { AlarmGroup } from "../model/alarm-groups.ts";
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

  render(groups: readonly AlarmGroup[], now_ms: number): void {
    const present = new Set(groups.map(({ key }) => key));
    for (const [key, card] of this.#cards) {
      if (present.has(key)) continue;
      card.item.remove();
      this.#cards.delete(key);
    }
    groups.forEach((group, at) => {
      const card = this.#cards.get(group.key) ?? new AlarmCard(group, this.#acts);
      this.#cards.set(group.key, card);
      const { children } = this.element;
      if (children[at] !== card.item) this.element.insertBefore(card.item, children[at] ?? null);
      card.render(group, now_ms);
    });
  }
}
