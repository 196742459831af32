// The memory budget, the sessions with the most waiting bytes, and who holds most of each limit. A person can change the
// budget, disconnect clients and end sessions here.
import { postJson } from "../console-request.ts";
import type { LiveMessage, MemoryUse, OwnerShare, SessionStatus } from "../model/contract.ts";
import { bytes, clientName, count, legible } from "../model/wording.ts";
import { actionButton, DISCONNECT, END } from "./client-actions.ts";
import { KeyedRows } from "./keyed-rows.ts";
import { part, setText } from "./page.ts";

export class MemoryPanel {
  readonly #used = part("memory-used");
  readonly #meter = part<HTMLMeterElement>("memory-meter");
  readonly #parts = part("memory-parts");
  readonly #victims = part("memory-victims");
  readonly #size = part<HTMLInputElement>("memory-size");
  readonly #said = part("memory-said");
  readonly #holders = new KeyedRows(part<HTMLTableElement>("holders-table"), "holder", [0, 1]);
  readonly #owners = new KeyedRows(part<HTMLTableElement>("owners-table"), "owner", [0]);

  readonly #may: (area: string) => boolean;

  /** `may`: whether the visitor may administer an area. */
  constructor(may: (area: string) => boolean) {
    this.#may = may;
    part<HTMLFormElement>("memory-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#setBudget(this.#size.value.trim());
    });
  }

  async #setBudget(size: string): Promise<void> {
    const warning = "A lower budget drops messages at once, plain ones first.";
    if (!window.confirm(`Set the memory budget to ${legible(size)}? ${warning}`)) return;
    setText(this.#said, await askForBudget(size));
  }

  render(latest: LiveMessage | null): void {
    if (latest === null) return;
    const { memory, holders, owners } = latest;
    part("memory-budget").hidden = !this.#may("memory");
    setText(this.#used, memory.budget > 0 ? `${bytes(memory.bytes)} of ${bytes(memory.budget)}` : bytes(memory.bytes));
    this.#meter.hidden = memory.budget === 0;
    this.#meter.value = memory.budget > 0 ? Math.min(1, memory.bytes / memory.budget) : 0;
    setText(this.#parts, inWords(memory.parts, bytes));
    setText(this.#victims, inWords(memory.victims, count));
    const rows = this.#holders.render(holders.map((holder) => ({ key: holder.client_id, cells: holderCells(holder) })));
    holders.forEach((holder, index) => this.#offer(rows[index], holder));
    this.#owners.render(owners.map((share) => ({ key: `${share.limit} ${share.owner}`, cells: ownerCells(share) })));
  }

  /** Adds the buttons that fit the state of the client. */
  #offer(row: HTMLTableRowElement | undefined, holder: SessionStatus): void {
    const cell = row?.cells[row.cells.length - 1];
    if (!cell || cell.dataset["state"] === holder.state || !this.#may("clients")) return;
    cell.dataset["state"] = holder.state;
    const actions = holder.state === "connected" ? [DISCONNECT, END] : [END];
    const tell = (words: string) => setText(this.#said, words);
    cell.replaceChildren(...actions.map((action) => actionButton(action, holder.client_id, tell)));
  }
}

/** The figures that are not 0, each with its name. */
function inWords(figures: MemoryUse["parts"] | MemoryUse["victims"], written: (figure: number) => string): string {
  const named = Object.entries(figures).filter(([, figure]) => figure > 0);
  return named.map(([name, figure]) => `${name} ${written(figure)}`).join(", ") || "nothing";
}

/** Asks the broker for another budget, and returns its answer in words. */
async function askForBudget(size: string): Promise<string> {
  try {
    const answer = await postJson("api/memory", { size });
    if (!answer.ok) return legible((await answer.text()).trim());
    const { budget } = (await answer.json()) as { budget: number };
    return `the memory budget is ${bytes(budget)} now`;
  } catch {
    return "the broker did not answer; try again";
  }
}

function holderCells({ client_id, owner, state, queued_messages, queued_bytes }: SessionStatus): string[] {
  return [clientName(client_id), legible(owner), state, count(queued_messages), bytes(queued_bytes)];
}

function ownerCells({ limit, owner, held, most }: OwnerShare): string[] {
  return [legible(owner), `limits.${legible(limit)}`, count(held), count(most)];
}
