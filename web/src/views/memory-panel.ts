// The memory budget, for whom most waits, and who holds most of each limit. A person can let go of some.
import type { LiveMessage, OwnerShare, SessionStatus } from "../model/contract.ts";
import { bytes, count, legible } from "../model/wording.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { element, part, setText } from "./page.ts";

/** What can be done to a client, and the words that are asked first. */
interface Deed {
  name: string;
  path: string;
  warning: string;
}

const DISCONNECT: Deed = {
  name: "Disconnect",
  path: "api/clients/disconnect",
  warning: "It may connect again.",
};
const END: Deed = {
  name: "End session",
  path: "api/sessions/end",
  warning: "What waits in its session is gone for good.",
};

export class MemoryPanel {
  readonly #used = part("memory-used");
  readonly #meter = part<HTMLMeterElement>("memory-meter");
  readonly #said = part("memory-said");
  readonly #holders = new KeyedRows(part<HTMLTableElement>("holders-table"), "holder");
  readonly #owners = new KeyedRows(part<HTMLTableElement>("owners-table"), "owner");

  render(latest: LiveMessage | null): void {
    if (latest === null) return;
    const { memory, holders, owners } = latest;
    setText(this.#used, memory.budget > 0 ? `${bytes(memory.bytes)} of ${bytes(memory.budget)}` : bytes(memory.bytes));
    this.#meter.hidden = memory.budget === 0;
    this.#meter.value = memory.budget > 0 ? Math.min(1, memory.bytes / memory.budget) : 0;
    const rows = this.#holders.render(holders.map((holder) => ({ key: holder.client_id, cells: holderCells(holder) })));
    holders.forEach((holder, index) => this.#offer(rows[index], holder));
    this.#owners.render(owners.map((share) => ({ key: `${share.limit} ${share.owner}`, cells: ownerCells(share) })));
  }

  /** Buttons for what can be done to a client. */
  #offer(row: HTMLTableRowElement | undefined, holder: SessionStatus): void {
    const cell = row?.cells[row.cells.length - 1];
    if (!cell || cell.dataset["state"] === holder.state) return;
    cell.dataset["state"] = holder.state;
    const deeds = holder.state === "connected" ? [DISCONNECT, END] : [END];
    cell.replaceChildren(...deeds.map((deed) => this.#button(deed, holder.client_id)));
  }

  #button(deed: Deed, client_id: string): HTMLButtonElement {
    const button = element("button", "deed", deed.name);
    button.type = "button";
    button.addEventListener("click", () => {
      if (window.confirm(`${deed.name}: ${shown(client_id)}? ${deed.warning}`)) void this.#act(deed, client_id);
    });
    return button;
  }

  async #act(deed: Deed, client_id: string): Promise<void> {
    setText(this.#said, await ask(deed, client_id));
  }
}

/** Asks the broker; what it says about it. */
async function ask(deed: Deed, client_id: string): Promise<string> {
  const body = JSON.stringify({ client_ids: [client_id] });
  const headers = { "content-type": "application/json" };
  try {
    const answer = await fetch(deed.path, { method: "POST", headers, body });
    if (!answer.ok) return legible((await answer.text()).trim());
    const { done } = (await answer.json()) as { done: string[] };
    return done.length > 0 ? `${deed.name}: ${shown(client_id)}, done` : `${shown(client_id)} is not there any more`;
  } catch {
    return "the broker did not answer; try again";
  }
}

function holderCells({ client_id, owner, state, queued_messages, queued_bytes }: SessionStatus): string[] {
  return [shown(client_id), legible(owner), state, count(queued_messages), bytes(queued_bytes)];
}

function ownerCells({ limit, owner, held, most }: OwnerShare): string[] {
  return [legible(owner), `limits.${legible(limit)}`, count(held), count(most)];
}

function shown(client_id: string): string {
  return client_id === "" ? "‹no name›" : legible(client_id);
}
