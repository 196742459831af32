// Who is connected. Rows are kept by client id and only changed cells are written.
import type { Client, LiveMessage } from "../model/contract.ts";
import { bytes, count, duration, legible } from "../model/wording.ts";
import { explainNoClients } from "./empty-states.ts";
import { element, part, setData, setText } from "./page.ts";

const SUBSCRIPTIONS_SHOWN = 3;
const SUBSCRIPTIONS_IN_TITLE = 50;
/** Also the labels on a narrow screen, where a row becomes a card. */
const COLUMNS = ["Client", "Address", "Protocol", "Connected", "In", "Out", "Dropped", "Queued", "Subscriptions"];

const byId = new Intl.Collator("en", { numeric: true }).compare;

export class ClientsTable {
  readonly #body: HTMLTableSectionElement;
  readonly #table = part<HTMLTableElement>("clients-table");
  readonly #count = part("clients-count");
  readonly #empty = part("clients-empty");
  readonly #rows = new Map<string, HTMLTableRowElement>();
  #rendered: LiveMessage | null | undefined;

  constructor() {
    this.#body = this.#table.tBodies[0] ?? this.#table.createTBody();
  }

  render(latest: LiveMessage | null): void {
    if (this.#rendered === latest) return;
    this.#rendered = latest;
    const clients = (latest?.clients ?? []).toSorted((a, b) => byId(a.client_id, b.client_id));
    const total = latest?.clients_total ?? 0;
    setText(this.#count, clients.length === total ? "" : `showing ${count(clients.length)} of ${count(total)}`);
    this.#table.hidden = clients.length === 0;
    this.#empty.hidden = clients.length > 0;
    if (clients.length === 0) explainNoClients(this.#empty, latest);
    this.#forgetAllBut(new Set(clients.map(({ client_id }) => client_id)));
    clients.forEach((client, index) => this.#place(client, index));
  }

  #forgetAllBut(present: Set<string>): void {
    for (const [client_id, row] of this.#rows) {
      if (present.has(client_id)) continue;
      row.remove();
      this.#rows.delete(client_id);
    }
  }

  #place(client: Client, index: number): void {
    const row = this.#rows.get(client.client_id) ?? this.#admit(client.client_id);
    if (this.#body.rows[index] !== row) this.#body.insertBefore(row, this.#body.rows[index] ?? null);
    renderClient(row, client);
  }

  #admit(client_id: string): HTMLTableRowElement {
    const row = element("tr");
    row.role = "row";
    row.dataset["client"] = client_id;
    row.append(...COLUMNS.map(cell));
    if (row.cells[0]) row.cells[0].title = legible(client_id);
    this.#rows.set(client_id, row);
    return row;
  }
}

function cell(label: string): HTMLTableCellElement {
  const made = element(label === "Client" ? "th" : "td");
  made.role = label === "Client" ? "rowheader" : "cell";
  made.dataset["label"] = label;
  return made;
}

function renderClient(row: HTMLTableRowElement, client: Client): void {
  const texts = [
    client.client_id === "" ? "‹no name›" : legible(client.client_id),
    legible(client.address),
    legible(client.protocol),
    duration(client.connected_s),
    count(client.messages_in),
    count(client.messages_out),
    count(client.dropped),
    bytes(client.queued_bytes),
    summary(client.subscriptions, SUBSCRIPTIONS_SHOWN),
  ];
  texts.forEach((text, column) => {
    const target = row.cells[column];
    if (target) setText(target, text);
  });
  setData(row, "dropping", client.dropped > 0 ? "yes" : "no");
  const title = summary(client.subscriptions, SUBSCRIPTIONS_IN_TITLE);
  const last = row.cells[COLUMNS.length - 1];
  if (last && last.title !== title) last.title = title;
}

function summary(filters: string[], shown: number): string {
  if (filters.length === 0) return "none";
  const more = filters.length - shown;
  const names = filters.slice(0, shown).map(legible).join(", ");
  return more > 0 ? `${names} and ${count(more)} more` : names;
}
