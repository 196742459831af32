// Keeps a WebSocket to the broker and opens it again by itself. It delivers messages and decides nothing about them.
import { type ConnectionState, retryDelayMs } from "./model/connection-state.ts";
import { NotUnderstood } from "./model/shape.ts";

/** A connection without a message for this long counts as dead, even if TCP has not noticed. */
const SILENCE_MS_MAX = 10_000;

interface LiveSource<M> {
  /** The path of the WebSocket, relative to the page; called for every new connection. */
  path: () => string;
  parse: (text: string) => M;
  /** `first`: this is the first message of a connection. */
  receive: (message: M, first: boolean) => void;
  /** A new connection is open: what it has to be asked first. */
  opened?: (send: (text: string) => void) => void;
  /** The broker closed the connection; true if the page must not connect again. */
  closed: (code: number, reason: string) => boolean;
}

export class LiveConnection<M> {
  readonly #source: LiveSource<M>;
  #state: ConnectionState = { kind: "connecting" };
  #socket: WebSocket | null = null;
  #attempt = 0;
  #retry = 0;
  #watchdog = 0;
  #problem: string | null = null;

  constructor(source: LiveSource<M>) {
    this.#source = source;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** What was wrong with the newest message; null when it was understood. */
  get problem(): string | null {
    return this.#problem;
  }

  open(): void {
    window.clearTimeout(this.#retry);
    this.#state = { kind: "connecting" };
    const socket = new WebSocket(address(this.#source.path()));
    this.#socket = socket;
    let first = true;
    socket.onopen = () => {
      this.#state = { kind: "open" };
      this.#source.opened?.((text) => socket.send(text));
    };
    socket.onmessage = ({ data }) => {
      this.#watch();
      if (this.#deliver(String(data), first)) first = false;
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#source.closed(code, reason)) this.pause();
      else this.#abandon();
    };
    this.#watch();
  }

  /** Closes the connection until `resume`. */
  pause(): void {
    this.#closeSocket();
    this.#state = { kind: "paused" };
  }

  resume(): void {
    if (this.#state.kind === "paused") this.open();
  }

  /** Connects now instead of waiting: the network is back, or a person asked. */
  retryNow(): void {
    if (this.#state.kind === "waiting") this.open();
  }

  /** Sends a message to the broker; without a connection it is dropped. */
  send(text: string): void {
    if (this.#state.kind === "open") this.#socket?.send(text);
  }

  #deliver(text: string, first: boolean): boolean {
    try {
      this.#source.receive(this.#source.parse(text), first);
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

  /** Closing a dead connection can take minutes, so its handlers are removed first. */
  #abandon(): void {
    this.#closeSocket();
    this.#scheduleRetry();
  }

  #closeSocket(): void {
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
    this.#state = { kind: "waiting", retry_at_ms: performance.now() + delay_ms };
    this.#retry = window.setTimeout(() => this.open(), delay_ms);
  }
}

function address(path: string): URL {
  const made = new URL(path, document.baseURI);
  made.protocol = made.protocol === "https:" ? "wss:" : "ws:";
  return made;
}
