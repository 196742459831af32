// The journal: what is promised, what there is and how much room, what the start found.
import type { JournalSummary, LiveMessage } from "../model/contract.ts";
import { readersLine } from "../model/pipeline-wording.ts";
import * as wording from "../model/journal-wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { element, part, setData, setText } from "./page.ts";

const FACTS: [string, (journal: JournalSummary) => string][] = [
  ["stored", wording.stored],
  ["offsets", wording.offsets],
  ["retention", wording.retention],
  ["archive", (journal) => wording.archive(journal.archive)],
  ["acknowledged", wording.acknowledged],
  ["disk", wording.disk],
  ["readers", readersLine],
  ["receipt", (journal) => wording.receipt(journal.receipt)],
];

export class JournalPanel {
  readonly #facts = part("journal-facts");
  readonly #meter = part<HTMLMeterElement>("journal-meter");
  readonly #damage = part("journal-damage");
  readonly #levels = new KeyedRows(part<HTMLTableElement>("levels-table"), "level");

  render(latest: LiveMessage | null): void {
    if (latest === null) return;
    const journal = latest.broker.journal;
    for (const [name, say] of FACTS) this.#renderFact(name, say(journal));
    this.#renderMeter(wording.fullness(journal));
    this.#renderDamage(wording.damage(journal.receipt));
    this.#levels.render(wording.levels(journal).map((cells, index) => ({ key: String(index), cells })));
  }

  #renderFact(name: string, text: string): void {
    const node = this.#facts.querySelector(`[data-fact="${name}"]`);
    if (node) setText(node, text);
  }

  #renderMeter(fullness: number | null): void {
    this.#meter.hidden = fullness === null;
    this.#meter.value = fullness ?? 0;
  }

  #renderDamage(lines: string[]): void {
    this.#damage.hidden = lines.length === 0;
    const said = lines.join("\n");
    if (this.#damage.dataset["said"] === said) return;
    setData(this.#damage, "said", said);
    this.#damage.replaceChildren(...lines.map((line) => element("li", "", line)));
  }
}
