// Keeps a WebSocket to the broker and opens it again by itself. It delivers messages and decides nothing about them.
import { type Link, retryDelayMs } from "./model/link.ts";
import { NotUnderstood } from "./model/fields.ts";

/** A link that says nothing for so long is dead, whatever TCP believes. */
const SILENCE_MS_MAX = 10_000;

export interface Feed<M> {
  /** Where it is, relative to the page; asked again for every connection. */
  path: () => string;
  parse: (text: string) => M;
  /** `first` says that the message opens a connection. */
  receive: (message: M, first: boolean) => void;
}

export class LiveConnection<M> {
  readonly #feed: Feed<M>;
  #link: Link = { kind: "connecting" };
  #socket: WebSocket | null = null;
  #attempt = 0;
  #retry = 0;
  #watchdog = 0;
  #problem: string | null = null;

  constructor(feed: Feed<M>) {
    this.#feed = feed;
  }

  get link(): Link {
    return this.#link;
  }

  /** What was wrong with the newest message; null when it was understood. */
  get problem(): string | null {
    return this.#problem;
  }

  open(): void {
    window.clearTimeout(this.#retry);
    this.#link = { kind: "connecting" };
    const socket = new WebSocket(address(this.#feed.path()));
    this.#socket = socket;
    let first = true;
    socket.onopen = () => {
      this.#link = { kind: "open" };
    };
    socket.onmessage = ({ data }) => {
      this.#watch();
      if (this.#deliver(String(data), first)) first = false;
    };
    socket.onclose = () => this.#abandon();
    this.#watch();
  }

  /** Lets the connection go until `resume`. */
  rest(): void {
    this.#letGo();
    this.#link = { kind: "resting" };
  }

  resume(): void {
    if (this.#link.kind === "resting") this.open();
  }

  /** Skips the rest of a wait: the network is back, or a person asked. */
  retryNow(): void {
    if (this.#link.kind === "waiting") this.open();
  }

  /** Says something to the broker; what is said without a connection is not kept. */
  send(text: string): void {
    if (this.#link.kind === "open") this.#socket?.send(text);
  }

  #deliver(text: string, first: boolean): boolean {
    try {
      this.#feed.receive(this.#feed.parse(text), first);
    } catch (error) {
      if (!(error instanceof NotUnderstood)) throw error;
      this.#problem = error.message;
      return false;
    }
    this.#problem = null;
    this.#attempt = 0;
    return true;
  }

  #watch(): void {
    window.clearTimeout(this.#watchdog);
    this.#watchdog = window.setTimeout(() => this.#abandon(), SILENCE_MS_MAX);
  }

  /** Closing a dead link can take minutes, so it is let go and its late events are not heard. */
  #abandon(): void {
    this.#letGo();
    this.#scheduleRetry();
  }

  #letGo(): void {
    const socket = this.#socket;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    this.#socket = null;
    window.clearTimeout(this.#watchdog);
    window.clearTimeout(this.#retry);
  }

  #scheduleRetry(): void {
    const delay_ms = retryDelayMs(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#link = { kind: "waiting", retry_at_ms: performance.now() + delay_ms };
    this.#retry = window.setTimeout(() => this.open(), delay_ms);
  }
}

function address(path: string): URL {
  const made = new URL(path, document.baseURI);
  made.protocol = made.protocol === "https:" ? "wss:" : "ws:";
  return made;
}
