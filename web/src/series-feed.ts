// Brings samples to the store of a page: history by request, the present over one WebSocket. It keeps nothing.
import { LiveConnection } from "./live-connection.ts";
import { type ParameterDefinition, ParametersMessage } from "./model/contract.ts";
import { type HistoryAnswer, readHistory } from "./model/history-answer.ts";
import type { HistoryRequest, SeriesFeed } from "./model/series-store.ts";
import { parse } from "./model/shape.ts";

interface FeedActions {
  receive: (text: string, first: boolean) => void;
  /** The broker closed the connection; true if the page must not connect again. */
  closed: (code: number, reason: string) => boolean;
}

export class BrokerFeed implements SeriesFeed {
  readonly #connection: LiveConnection<string>;
  #asked = "";
  #isStarted = false;

  constructor({ receive, closed }: FeedActions) {
    this.#connection = new LiveConnection({
      path: () => "api/samples",
      parse: (text) => text,
      receive,
      opened: (send) => send(this.#asked),
      closed,
    });
  }

  async history({ names, from_ms, to_ms, width }: HistoryRequest, signal: AbortSignal): Promise<HistoryAnswer> {
    const query = new URLSearchParams(names.map((name) => ["name", name]));
    query.set("from_ms", milliseconds(from_ms));
    query.set("to_ms", milliseconds(to_ms));
    query.set("width", String(width));
    const answer = await fetch(`api/history?${query}`, { signal });
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 300).trim() || `The broker answers ${answer.status}.`);
    return readHistory(await answer.text());
  }

  listen(names: readonly string[], step_ms: number): void {
    this.#asked = JSON.stringify({ names, step_ms });
    if (names.length === 0) return this.pause();
    if (!this.#isStarted) this.#connection.open();
    else this.#connection.send(this.#asked);
    this.#isStarted = true;
  }

  /** Nobody looks at the page, so the broker need not send. */
  pause(): void {
    if (this.#isStarted) this.#connection.pause();
    this.#isStarted = false;
  }

  resume(): void {
    if (this.#isStarted || this.#asked === "" || this.#asked.startsWith('{"names":[]')) return;
    this.#connection.open();
    this.#isStarted = true;
  }

  retryNow(): void {
    this.#connection.retryNow();
  }
}

/** Finds parameters by a part of their name, or by a filter. */
export async function fetchDefinitions(search: string): Promise<readonly ParameterDefinition[]> {
  const answer = await fetch(`api/parameters?search=${encodeURIComponent(search)}`);
  if (!answer.ok) return [];
  return parse(ParametersMessage, await answer.text()).definitions ?? [];
}

/** The broker takes digits only, no exponent, and no time before 1970. */
function milliseconds(at_ms: number): string {
  return String(Math.max(0, Math.round(at_ms * 1_000) / 1_000));
}
