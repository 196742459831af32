// Who is connected, and how each of them keeps up.
import type { ClientStatus, LiveMessage } from "../model/contract.ts";
import { bytes, clientName, count, duration, legible } from "../model/wording.ts";
import { explainNoClients } from "./empty-states.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { part, setData, setText, setTitle } from "./page.ts";

const SUBSCRIPTIONS_SHOWN = 3;
const SUBSCRIPTIONS_IN_TITLE = 50;

const byId = new Intl.Collator("en", { numeric: true }).compare;

export class ClientsTable {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("clients-table"), "client");
  readonly #count = part("clients-count");
  readonly #empty = part("clients-empty");
  #rendered: LiveMessage | null | undefined;

  render(latest: LiveMessage | null): void {
    if (this.#rendered === latest) return;
    this.#rendered = latest;
    const clients = (latest?.clients ?? []).toSorted((a, b) => byId(a.client_id, b.client_id));
    const total = latest?.clients_total ?? 0;
    setText(this.#count, clients.length === total ? "" : `showing ${count(clients.length)} of ${count(total)}`);
    this.#empty.hidden = clients.length > 0;
    if (clients.length === 0) explainNoClients(this.#empty, latest);
    const rows = this.#rows.render(clients.map((client) => ({ key: client.client_id, cells: cells(client) })));
    clients.forEach((client, index) => mark(rows[index], client));
  }
}

function cells(client: ClientStatus): string[] {
  return [
    clientName(client.client_id),
    client.user === null ? "" : legible(client.user),
    legible(client.address),
    legible(client.listener),
    legible(client.protocol) + (client.slowed ? ", slowed" : ""),
    duration(client.connected_s),
    count(client.messages_in),
    count(client.messages_out),
    queue(client),
    count(client.inflight),
    count(client.dropped),
    count(client.expired),
    summary(client.subscriptions, SUBSCRIPTIONS_SHOWN),
  ];
}

function queue(client: ClientStatus): string {
  if (client.queued_messages === 0 && client.queued_bytes === 0) return "0";
  return `${count(client.queued_messages)}, ${bytes(client.queued_bytes)}`;
}

function mark(row: HTMLTableRowElement | undefined, client: ClientStatus): void {
  if (!row) return;
  setData(row, "dropping", client.dropped > 0 ? "yes" : "no");
  setTitle(row.cells[0], legible(client.client_id));
  setTitle(row.cells[row.cells.length - 1], summary(client.subscriptions, SUBSCRIPTIONS_IN_TITLE));
}

function summary(filters: string[], shown: number): string {
  if (filters.length === 0) return "none";
  const more = filters.length - shown;
  const names = filters.slice(0, shown).map(legible).join(", ");
  return more > 0 ? `${names} and ${count(more)} more` : names;
}
