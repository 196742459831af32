// All that the page knows. Live messages change it, views read it; it uses neither sockets nor the DOM.
import { BrokerClock } from "./broker-clock.ts";
import { ClientRates } from "./client-rates.ts";
import type { LiveMessage } from "./contract.ts";
import { EventLog } from "./event-log.ts";
import { Traffic } from "./traffic.ts";
import { gapBefore } from "./value-history.ts";
import { ValueStore } from "./value-store.ts";

export class ConsoleState {
  readonly clock = new BrokerClock();
  readonly values = new ValueStore();
  readonly traffic = new Traffic();
  readonly events = new EventLog();
  readonly clientRates = new ClientRates();
  #latest: LiveMessage | null = null;

  /** The newest message; null before the first. */
  get latest(): LiveMessage | null {
    return this.#latest;
  }

  /** `first`: this message is the first of a connection, so it has everything and not only what changed. */
  receive(message: LiveMessage, first: boolean, local_ms: number): void {
    this.clock.observe(message.at_ms, local_ms, first);
    const gap_ms = gapBefore(message.at_ms, this.#latest?.at_ms);
    if (gap_ms !== null) {
      this.traffic.breakOff(gap_ms);
      this.values.breakOff(gap_ms);
    }
    if (message.clients.length > 0) this.clientRates.take(message.at_ms, message.clients);
    this.traffic.append(message.at_ms, message.rates);
    const complete = first && message.values.length >= message.topics_total;
    if (complete) this.values.replace(message.values);
    else this.values.update(message.values);
    if (first) this.events.replace(message.events);
    else this.events.append(message.events);
    this.#latest = message;
  }
}
