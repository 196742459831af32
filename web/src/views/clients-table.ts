// Who is connected, and how each of them keeps up. A row leads to the client's details.
import { type ClientRates, slowness } from "../model/client-rates.ts";
import { clientCells, subscriptionsTitle } from "../model/client-wording.ts";
import type { ClientStatus, LiveMessage } from "../model/contract.ts";
import { count } from "../model/wording.ts";
import { explainNoClients } from "./empty-states.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { element, part, setData, setText, setTitle } from "./page.ts";

const byId = new Intl.Collator("en", { numeric: true }).compare;

export class ClientsTable {
  readonly #rows = new KeyedRows(part<HTMLTableElement>("clients-table"), "client", [0, 1]);
  readonly #count = part("clients-count");
  readonly #empty = part("clients-empty");
  #rendered: LiveMessage | null | undefined;

  render(latest: LiveMessage | null, rates: ClientRates): void {
    if (this.#rendered === latest) return;
    this.#rendered = latest;
    const clients = (latest?.clients ?? []).toSorted((a, b) => byId(a.client_id, b.client_id));
    const total = latest?.clients_total ?? 0;
    setText(this.#count, clients.length === total ? "" : `showing ${count(clients.length)} of ${count(total)}`);
    this.#empty.hidden = clients.length > 0;
    if (clients.length === 0) explainNoClients(this.#empty, latest);
    const cells = clients.map((client) => ({ key: client.client_id, cells: clientCells(client, rates.of(client.client_id)) }));
    const rows = this.#rows.render(cells);
    clients.forEach((client, index) => mark(rows[index], client, slowness(client, rates.of(client.client_id))));
  }
}

function mark(row: HTMLTableRowElement | undefined, client: ClientStatus, slow: string | null): void {
  if (!row) return;
  setData(row, "dropping", client.dropped > 0 ? "yes" : "no");
  setData(row, "slow", slow === null ? "no" : "yes");
  const [queue, filters, last] = [row.cells[7], row.cells[10], row.cells[11]];
  setTitle(queue, slow ?? "");
  setTitle(filters, subscriptionsTitle(client));
  if (!last || last.childElementCount > 0) return;
  const link = element("a", "deed", "Details");
  link.href = `#/clients/${encodeURIComponent(client.client_id)}`;
  last.append(link);
}
