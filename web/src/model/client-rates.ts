// What each client sends and gets per second, from the counts in live messages. Bounded by the clients of a message.
import type { ClientStatus } from "./contract.ts";

/** Rates are taken over at least this time, so that a message more or less does not make them jump. */
const OVER_MS = 2_000;

export interface ClientRate {
  readonly in_s: number;
  readonly out_s: number;
  readonly samples_in_s: number;
  readonly bytes_in_s: number;
  readonly bytes_out_s: number;
  readonly dropped_s: number;
}

export const NO_RATE: ClientRate = { in_s: 0, out_s: 0, samples_in_s: 0, bytes_in_s: 0, bytes_out_s: 0, dropped_s: 0 };

interface Reading {
  readonly at_ms: number;
  readonly clients: ReadonlyMap<string, ClientStatus>;
}

export class ClientRates {
  #readings: Reading[] = [];

  /** Takes the clients of one live message. */
  take(at_ms: number, clients: readonly ClientStatus[]): void {
    const newest = this.#readings.at(-1);
    if (newest && at_ms <= newest.at_ms) {
      if (at_ms === newest.at_ms) return;
      this.#readings = []; // The broker's clock was set.
    }
    this.#readings.push({ at_ms, clients: new Map(clients.map((client) => [client.client_id, client])) });
    while ((this.#readings[1]?.at_ms ?? Infinity) <= at_ms - OVER_MS) this.#readings.shift();
  }

  /** Rates of 0 until there are two readings of the same connection. */
  of(client_id: string): ClientRate {
    const newest = this.#readings.at(-1);
    const now = newest?.clients.get(client_id);
    if (!newest || !now) return NO_RATE;
    const first = this.#readings.find(({ clients }) => {
      const then = clients.get(client_id);
      return then !== undefined && then.connected_s <= now.connected_s;
    });
    const then = first?.clients.get(client_id);
    const seconds = (newest.at_ms - (first?.at_ms ?? newest.at_ms)) / 1_000;
    if (!then || seconds <= 0) return NO_RATE;
    const per_second = (grown: number) => Math.max(0, grown) / seconds;
    return {
      in_s: per_second(now.messages_in - then.messages_in),
      out_s: per_second(now.messages_out - then.messages_out),
      samples_in_s: per_second(now.samples_in - then.samples_in),
      bytes_in_s: per_second(now.bytes_in - then.bytes_in),
      bytes_out_s: per_second(now.bytes_out - then.bytes_out),
      dropped_s: per_second(now.dropped - then.dropped),
    };
  }
}

/** Fewer wait for a moment at any client. */
const WAITING_FEW = 50;
const WAITING_FEW_BYTES = 64_000;
/** What waits is much if it takes the client longer than this. */
const WAITING_S = 2;

/** Why a client counts as slow, in words; null if it keeps up. */
export function slowness(client: ClientStatus, { out_s, bytes_out_s, dropped_s }: ClientRate): string | null {
  if (dropped_s > 0) return "slow: loses messages";
  if (client.slowed) return "slowed: its owner reached a quota";
  const messages = client.queued_messages > Math.max(WAITING_FEW, WAITING_S * out_s);
  const bytes = client.queued_bytes > Math.max(WAITING_FEW_BYTES, WAITING_S * bytes_out_s);
  return messages || bytes ? "slow: messages wait" : null;
}
