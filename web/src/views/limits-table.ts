// Which limits were reached since the start: the key to change, how often, and how long ago.
import type { LimitReached, LiveMessage } from "../model/contract.ts";
import { age, count, legible } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { explain, part, setData } from "./page.ts";

/** A limit reached within this time is marked. */
const RECENT_MS = 10_000;

export class LimitsTable {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("limits-table"), "limit");
  readonly #empty = part("limits-empty");

  render(latest: LiveMessage | null, now_ms: number): void {
    const limits = latest?.limits ?? [];
    this.#empty.hidden = limits.length > 0;
    if (limits.length === 0) explain(this.#empty, "No limit has been reached since the start.");
    const rows = this.#rows.render(limits.map((limit) => ({ key: limit.limit, cells: cells(limit, now_ms) })));
    limits.forEach((limit, index) => {
      const row = rows[index];
      if (row) setData(row, "recent", now_ms - limit.last_ms < RECENT_MS ? "yes" : "no");
    });
  }
}

function cells(limit: LimitReached, now_ms: number): string[] {
  const key = limit.limit.startsWith("quota.") ? limit.limit : `limits.${limit.limit}`;
  return [legible(key), count(limit.value), count(limit.times), age(now_ms - limit.last_ms)];
}
