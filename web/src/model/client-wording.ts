// A client in words: the cells of its row, and everything that is known of it. Pure.
import { type ClientRate, slowness } from "./client-rates.ts";
import type { BrokerEvent, ClientStatus } from "./contract.ts";
import { bytes, clientName, count, duration, legible, perSecond, rate } from "./wording.ts";

const SUBSCRIPTIONS_SHOWN = 3;
const SUBSCRIPTIONS_IN_TITLE = 50;

export function clientCells(client: ClientStatus, per_second: ClientRate): string[] {
  return [
    clientName(client.client_id),
    client.user === null ? "" : legible(client.user),
    legible(client.address),
    legible(client.protocol),
    duration(client.connected_s),
    rate(per_second.in_s),
    rate(per_second.out_s),
    waiting(client),
    count(client.inflight),
    count(client.dropped),
    summary(client.subscriptions, SUBSCRIPTIONS_SHOWN),
  ];
}

export function subscriptionsTitle({ subscriptions }: ClientStatus): string {
  return summary(subscriptions, SUBSCRIPTIONS_IN_TITLE);
}

/** Each fact with its name, for the client's details. */
export function clientFacts(client: ClientStatus, per_second: ClientRate): [string, string][] {
  return [
    ["Keeps up", slowness(client, per_second) ?? "yes"],
    ["User", client.user === null ? "none" : legible(client.user)],
    ["Address", `${legible(client.address)}, by listener ${legible(client.listener)}`],
    ["Protocol", legible(client.protocol)],
    ["Connected", `for ${duration(client.connected_s)}`],
    ["Sends", flow(per_second.in_s, per_second.bytes_in_s, client.messages_in, client.bytes_in)],
    ["Gets", flow(per_second.out_s, per_second.bytes_out_s, client.messages_out, client.bytes_out)],
    ["Waiting", `${waiting(client)}; ${count(client.inflight)} in flight`],
    ["Dropped", `${count(client.dropped)}, now ${perSecond(per_second.dropped_s)}; ${count(client.expired)} expired`],
  ];
}

/** Events that are about a client: their text begins with its name. */
export function eventsOf(events: readonly BrokerEvent[], client_id: string, most: number): BrokerEvent[] {
  const start = `${client_id} `;
  return client_id === "" ? [] : events.filter(({ text }) => text.startsWith(start)).slice(0, most);
}

function flow(messages_s: number, bytes_s: number, messages: number, size: number): string {
  return `${perSecond(messages_s)}, ${bytes(bytes_s)}/s; ${count(messages)} messages, ${bytes(size)} in all`;
}

function waiting({ queued_messages, queued_bytes }: ClientStatus): string {
  if (queued_messages === 0 && queued_bytes === 0) return "0";
  return `${count(queued_messages)}, ${bytes(queued_bytes)}`;
}

function summary(filters: string[], shown: number): string {
  if (filters.length === 0) return "none";
  const more = filters.length - shown;
  const names = filters.slice(0, shown).map(legible).join(", ");
  return more > 0 ? `${names} and ${count(more)} more` : names;
}
