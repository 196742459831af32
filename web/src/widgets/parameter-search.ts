// A search for a parameter, with what it found as a list to choose from. Names come from strangers: they go in as text.
import type { ParameterDefinition } from "../model/contract.ts";
import type { DefinitionStore } from "../model/definition-store.ts";
import { unitText } from "../model/unit-wording.ts";
import { legible } from "../model/wording.ts";
import { element } from "../views/page.ts";

const SHOWN_MAX = 40;
const SEARCH_MAX = 1_000;
/** A person types on; the broker is asked after this time. */
const SETTLE_MS = 150;

interface SearchActions {
  readonly chosen: (name: string) => void;
  /** A person wants to choose nothing. */
  readonly ended: () => void;
}

export class ParameterSearch {
  readonly element = element("div", "picker-all");
  readonly #definitions: DefinitionStore;
  readonly #actions: SearchActions;
  readonly #search = element("input", "picker-search");
  readonly #found = element("ul", "picker-found");
  readonly #said = element("p", "note");
  #timer = 0;
  #asked = 0;

  constructor(definitions: DefinitionStore, label: string, actions: SearchActions) {
    this.#definitions = definitions;
    this.#actions = actions;
    Object.assign(this.#search, { type: "search", placeholder: "Search: rpm, or gripen/+/engine/#", autocomplete: "off", maxLength: SEARCH_MAX });
    this.#search.ariaLabel = label;
    this.#search.spellcheck = false;
    this.#said.role = "status";
    this.element.append(this.#search, this.#said, this.#found);
    this.#search.addEventListener("input", () => this.#later());
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Begins anew, with what an empty search finds. */
  begin(): void {
    this.#search.value = "";
    void this.#find();
  }

  focus(): void {
    this.#search.focus({ preventScroll: true });
  }

  #later(): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#find(), SETTLE_MS);
  }

  async #find(): Promise<void> {
    const asked = (this.#asked += 1);
    const found = await this.#definitions.search(this.#search.value).catch(() => null);
    if (asked !== this.#asked) return;
    const shown = found?.slice(0, SHOWN_MAX) ?? [];
    this.#said.textContent = found === null ? "The broker does not answer." : shown.length === 0 ? "No parameter matches." : shown.length < found.length ? `the first ${SHOWN_MAX}` : "";
    this.#found.replaceChildren(...shown.map((one) => this.#row(one)));
  }

  #row({ name, unit, description }: ParameterDefinition): HTMLLIElement {
    const row = element("li");
    const choose = element("button", "picker-row");
    choose.type = "button";
    choose.dataset["pick"] = name;
    choose.append(element("bdi", "", legible(name)), element("span", "note", unitText(unit)));
    choose.title = legible(description ?? name);
    choose.addEventListener("click", () => {
      this.#actions.chosen(name);
    });
    row.append(choose);
    return row;
  }

  #pressed(event: KeyboardEvent): void {
    event.stopPropagation();
    const rows = [...this.#found.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") this.#actions.ended();
    else if (event.key === "ArrowDown") rows[Math.min(rows.length - 1, at + 1)]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? rows[at - 1] : this.#search)?.focus();
    else if (event.key === "Enter" && document.activeElement === this.#search) rows[0]?.click();
    else return;
    event.preventDefault();
  }
}
