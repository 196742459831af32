// Where the traffic is: topics by their first two levels, the busiest now first, each with its share.
import type { LiveMessage, PrefixRate } from "../model/contract.ts";
import { bytes, count, legible, rate } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { explain, part } from "./page.ts";

export class PrefixesTable {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("prefixes-table"), "prefix", [0]);
  readonly #empty = part("prefixes-empty");
  #rendered: LiveMessage | null | undefined;

  render(latest: LiveMessage | null): void {
    if (this.#rendered === latest) return;
    this.#rendered = latest;
    const prefixes = latest?.prefixes ?? [];
    this.#empty.hidden = prefixes.length > 0;
    if (prefixes.length === 0) explain(this.#empty, "Nothing has been published yet.");
    const rows = this.#rows.render(prefixes.map((prefix) => ({ key: prefix.prefix, cells: cells(prefix) })));
    const most = Math.max(1, ...prefixes.map(({ messages_s }) => messages_s));
    prefixes.forEach(({ messages_s }, index) => rows[index]?.style.setProperty("--share", String(messages_s / most)));
  }
}

function cells(prefix: PrefixRate): string[] {
  return [
    prefix.prefix === "" ? "‹empty›" : legible(prefix.prefix),
    rate(prefix.messages_s),
    `${bytes(prefix.bytes_s)}/s`,
    count(prefix.messages),
    count(prefix.deliveries),
  ];
}
