// Streams: who publishes each, what is kept of it, and how it flows.
import type { LiveMessage } from "../model/contract.ts";
import { extent, streamCells } from "../model/stream-wording.ts";
import { legible } from "../model/wording.ts";
import { explainNoStreams } from "./empty-states.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { part, setData, setText, setTitle } from "./page.ts";

export class StreamsPanel {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("streams-table"), "stream", [0]);
  readonly #count = part("streams-count");
  readonly #empty = part("streams-empty");

  render(latest: LiveMessage | null, now_ms: number): void {
    const shown = latest?.streams.shown ?? [];
    setText(this.#count, latest ? extent(latest.streams) : "");
    this.#empty.hidden = shown.length > 0;
    if (shown.length === 0) explainNoStreams(this.#empty, latest);
    const rows = this.#rows.render(shown.map((stream) => ({ key: stream.name, cells: streamCells(stream, now_ms) })));
    shown.forEach((stream, index) => {
      const row = rows[index];
      if (!row) return;
      setData(row, "live", stream.live ? "yes" : "no");
      setTitle(row.cells[1], legible(stream.media));
    });
  }
}
