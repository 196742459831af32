// The broker's newest events, newest first; beyond the bound the oldest go.
import type { BrokerEvent } from "./contract.ts";

export const EVENTS_MAX = 200;

export class EventLog {
  #events: BrokerEvent[] = [];
  #revision = 0;

  get newestFirst(): readonly BrokerEvent[] {
    return this.#events;
  }

  get revision(): number {
    return this.#revision;
  }

  /** `events` come oldest first, as the broker sends them. */
  append(events: BrokerEvent[]): void {
    if (events.length === 0) return;
    this.#events = [...events.toReversed(), ...this.#events].slice(0, EVENTS_MAX);
    this.#revision += 1;
  }

  /** A new connection starts with the broker's own list, which holds what came before, too. */
  replace(events: BrokerEvent[]): void {
    this.#events = [];
    this.#revision += 1;
    this.append(events);
  }
}
