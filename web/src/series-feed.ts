// Brings samples to the store of a page: history by request, the present over one WebSocket. It keeps nothing.
import { LiveConnection } from "./live-connection.ts";
import { type ParameterDefinition, ParametersMessage } from "./model/contract.ts";
import { type HistoryAnswer, readHistory } from "./model/history-answer.ts";
import type { HistoryRequest, SeriesFeed } from "./model/series-store.ts";
import { fields, orNull, parse } from "./model/shape.ts";

const TimeRangeAnswer = fields({ from_ms: orNull("number"), to_ms: "number" });

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

  async history(request: HistoryRequest, signal: AbortSignal): Promise<HistoryAnswer> {
    const { names, from_ms, to_ms, width } = request;
    const query = new URLSearchParams(names.map((name) => ["name", name]));
    query.set("from_ms", milliseconds(from_ms));
    query.set("to_ms", milliseconds(to_ms));
    query.set("width", String(width));
    const answer = await fetch(`api/history?${query}`, { signal });
    if (answer.status === 404) return this.#apart(request, signal);
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 300).trim() || `The broker answers ${answer.status}.`);
    return readHistory(await answer.text());
  }

  /** One name that nobody has declared would hide all others: each half is asked for by itself. */
  async #apart(request: HistoryRequest, signal: AbortSignal): Promise<HistoryAnswer> {
    const { names } = request;
    if (names.length < 2) return { pages: new Map(), oldest_ms: null };
    const middle = Math.ceil(names.length / 2);
    const halves = [names.slice(0, middle), names.slice(middle)].map((half) => this.history({ ...request, names: half }, signal));
    const [first, second] = await Promise.all(halves);
    return { pages: new Map([...(first?.pages ?? []), ...(second?.pages ?? [])]), oldest_ms: first?.oldest_ms ?? second?.oldest_ms ?? null };
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

/** Which times can be asked for; null while nothing is kept. */
export async function fetchRange(): Promise<{ from_ms: number; to_ms: number } | null> {
  const answer = await fetch("api/range");
  if (!answer.ok) return null;
  const { from_ms, to_ms } = parse(TimeRangeAnswer, await answer.text());
  return from_ms === null ? null : { from_ms, to_ms };
}

/** The broker takes digits only, no exponent, and no time before 1970. */
function milliseconds(at_ms: number): string {
  return String(Math.max(0, Math.round(at_ms * 1_000) / 1_000));
}
