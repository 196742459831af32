// Sessions whose client is away: what waits for each, since when, and until when.
import type { AwayStatus, LiveMessage } from "../model/contract.ts";
import { age, bytes, clientName, count, duration, legible } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { explain, part, setText } from "./page.ts";

export class AwayTable {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("away-table"), "away", [0]);
  readonly #count = part("away-count");
  readonly #empty = part("away-empty");

  render(latest: LiveMessage | null, now_ms: number): void {
    const away = latest?.away ?? [];
    const total = latest?.sessions_away ?? 0;
    const most = "those with the most waiting messages first";
    setText(this.#count, away.length < total ? `showing ${count(away.length)} of ${count(total)}, ${most}` : most);
    this.#empty.hidden = away.length > 0;
    if (away.length === 0) explain(this.#empty, "No client with a session is away.");
    this.#rows.render(away.map((session) => ({ key: session.client_id, cells: cells(session, now_ms) })));
  }
}

function cells(session: AwayStatus, now_ms: number): string[] {
  return [
    clientName(session.client_id),
    session.user === null ? "" : legible(session.user),
    count(session.queued_messages),
    bytes(session.queued_bytes),
    age(now_ms - session.since_ms),
    session.expires_s === null ? "never" : duration(session.expires_s),
    session.subscriptions.map(legible).join(", "),
  ];
}
