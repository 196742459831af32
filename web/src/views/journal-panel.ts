// The journal: what is promised, what there is, who reads it, what the start found.
import type { JournalSummary, LiveMessage } from "../model/contract.ts";
import * as wording from "../model/journal-wording.ts";
import { count } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { element, part, setData, setText } from "./page.ts";

const FACTS: [string, (journal: JournalSummary) => string][] = [
  ["stored", wording.stored],
  ["offsets", wording.offsets],
  ["retention", wording.retention],
  ["archive", (journal) => wording.archive(journal.archive)],
  ["acknowledged", wording.acknowledged],
  ["receipt", (journal) => wording.receipt(journal.receipt)],
];

export class JournalPanel {
  readonly #facts = part("journal-facts");
  readonly #meter = part<HTMLMeterElement>("journal-meter");
  readonly #damage = part("journal-damage");
  readonly #levels = new KeyedRows(part<HTMLTableElement>("levels-table"), "level");
  readonly #consumers = new KeyedRows(part<HTMLTableElement>("consumers-table"), "consumer");
  readonly #consumersCount = part("consumers-count");

  render(latest: LiveMessage | null, now_ms: number): void {
    if (latest === null) return;
    const journal = latest.broker.journal;
    for (const [name, say] of FACTS) this.#renderFact(name, say(journal));
    this.#renderMeter(wording.fullness(journal));
    this.#renderDamage(wording.damage(journal.receipt));
    this.#levels.render(wording.levels(journal).map((cells, index) => ({ key: String(index), cells })));
    this.#renderConsumers(journal, now_ms);
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

  #renderConsumers(journal: JournalSummary, now_ms: number): void {
    const { consumers, consumers_total: total } = journal;
    const shown = total === 0 ? "nobody has left a position" : "furthest behind first";
    const some = consumers.length === total ? shown : `showing ${count(consumers.length)} of ${count(total)}`;
    setText(this.#consumersCount, some);
    this.#consumers.render(
      consumers.map((consumer) => ({ key: consumer.name, cells: wording.consumerCells(consumer, now_ms) })),
    );
  }
}
