// Who sends to the broker, who gets from it and who reads its journal, the busiest first; those beyond the room are summed
// up. Pure.
import { type ClientRate, NO_RATE, slowness } from "./client-rates.ts";
import type { ClientStatus } from "./contract.ts";

export interface FlowEnd {
  readonly client_id: string;
  /** Messages per second, in one direction. */
  readonly rate_s: number;
  /** Samples of parameters per second; the broker does not count those that it sends. */
  readonly samples_s: number;
  readonly bytes_s: number;
  readonly queued_messages: number;
  readonly queued_bytes: number;
  readonly slow: string | null;
}

export interface FlowSide {
  readonly shown: readonly FlowEnd[];
  readonly others: number;
  readonly others_rate_s: number;
  readonly others_bytes_s: number;
}

export interface Flow {
  readonly publishers: FlowSide;
  readonly subscribers: FlowSide;
}

type Rates = (client_id: string) => ClientRate;

export function flowOf(clients: readonly ClientStatus[], rates: Rates, room: number): Flow {
  const publishers = clients.filter(({ messages_in }) => messages_in > 0).map((client) => sending(client, rates));
  const subscribers = clients.filter(isReader).map((client) => getting(client, rates));
  return { publishers: side(publishers, room), subscribers: side(subscribers, room) };
}

function isReader(client: ClientStatus): boolean {
  return client.subscriptions.length > 0 || client.messages_out > 0 || client.queued_messages > 0;
}

function sending(client: ClientStatus, rates: Rates): FlowEnd {
  const rate = rates(client.client_id);
  const slow = client.slowed ? slowness(client, NO_RATE) : null;
  return { client_id: client.client_id, rate_s: rate.in_s, samples_s: rate.samples_in_s, bytes_s: rate.bytes_in_s, queued_messages: 0, queued_bytes: 0, slow };
}

function getting(client: ClientStatus, rates: Rates): FlowEnd {
  const { client_id, queued_messages, queued_bytes } = client;
  const rate = rates(client_id);
  return {
    client_id, queued_messages, queued_bytes, rate_s: rate.out_s, samples_s: 0, bytes_s: rate.bytes_out_s, slow: slowness(client, rate),
  };
}

/** Who is slow is always shown, also where busier ones have to be summed up for that. */
function side(ends: readonly FlowEnd[], room: number): FlowSide {
  const first = (a: FlowEnd, b: FlowEnd) => b.bytes_s - a.bytes_s || b.rate_s - a.rate_s || (a.client_id < b.client_id ? -1 : 1);
  const slowest = ends.filter(({ slow }) => slow !== null).sort(first).slice(0, room);
  const busiest = ends.filter(({ slow }) => slow === null).sort(first).slice(0, room - slowest.length);
  const shown = [...slowest, ...busiest].sort(first);
  const known = new Set(shown);
  const others = ends.filter((end) => !known.has(end));
  const sum = (of: (end: FlowEnd) => number) => others.reduce((total, end) => total + of(end), 0);
  return { shown, others: others.length, others_rate_s: sum(({ rate_s }) => rate_s), others_bytes_s: sum(({ bytes_s }) => bytes_s) };
}

/** How thick the line of bytes per second is, from 1 to 6: ten times as much is one step more. */
export function thickness(bytes_s: number): number {
  return bytes_s <= 0 ? 1 : Math.min(6, 1.5 + Math.max(0, Math.log10(bytes_s / 100)));
}
