// The clients, one of them in detail (`#/clients/NAME`), and the sessions whose client is away.
import type { ConsoleVisitor } from "../model/contract.ts";
import type { LivePart } from "../model/live-parts.ts";
import { may } from "../model/visitor-wording.ts";
import { AwayTable } from "../views/away-table.ts";
import { ClientDetail } from "../views/client-detail.ts";
import { ClientsTable } from "../views/clients-table.ts";
import type { Page, PageContext } from "./page.ts";

export class ClientsPage implements Page {
  readonly path = "clients";
  readonly title = "Clients";
  readonly #clients = new ClientsTable();
  readonly #away = new AwayTable();
  readonly #detail: ClientDetail;
  #context: PageContext | null = null;

  constructor(visitor: () => ConsoleVisitor | null) {
    this.#detail = new ClientDetail(() => may(visitor(), "clients"));
  }

  parts(): readonly LivePart[] {
    return ["clients", "away", "events"];
  }

  show(root: HTMLElement, context: PageContext, rest: string): void {
    this.#context = context;
    if (!this.#detail.root.isConnected) root.prepend(this.#detail.root);
    this.#detail.choose(rest);
  }

  render(now_ms: number): void {
    const state = this.#context?.state;
    if (!state) return;
    this.#clients.render(state.latest, state.clientRates);
    this.#away.render(state.latest, now_ms);
    this.#detail.render(state, state.clientRates);
  }

  hide(): void {
    this.#context = null;
  }
}
