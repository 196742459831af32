// A box in which a person finds a parameter to add. Names come from strangers: they go in as text.
import type { ParameterDefinition } from "../model/contract.ts";
import type { DefinitionStore } from "../model/definition-store.ts";
import { legible } from "../model/wording.ts";
import { element } from "../views/page.ts";

const SHOWN_MAX = 40;
const SEARCH_MAX = 1_000;
/** A person types on; the broker is asked after this time. */
const SETTLE_MS = 150;

export class ParameterPicker {
  readonly button = element("button", "plot-deed", "+ Add");
  readonly panel = element("div", "picker");
  readonly #definitions: DefinitionStore;
  readonly #chosen: (name: string) => void;
  readonly #search = element("input", "picker-search");
  readonly #found = element("ul", "picker-found");
  readonly #said = element("p", "note");
  #timer = 0;
  #asked = 0;

  constructor(definitions: DefinitionStore, chosen: (name: string) => void) {
    this.#definitions = definitions;
    this.#chosen = chosen;
    this.button.type = "button";
    this.button.title = "Add a parameter";
    this.button.ariaExpanded = "false";
    this.panel.hidden = true;
    Object.assign(this.#search, { type: "search", placeholder: "Search: rpm, or gripen/+/engine/#", autocomplete: "off", maxLength: SEARCH_MAX });
    this.#search.ariaLabel = "Search a parameter to add";
    this.#search.spellcheck = false;
    this.#said.role = "status";
    this.panel.append(this.#search, this.#said, this.#found);
    this.button.addEventListener("click", () => this.#show(this.panel.hidden !== false));
    this.#search.addEventListener("input", () => this.#later());
    this.panel.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #show(isShown: boolean): void {
    this.panel.hidden = !isShown;
    this.button.ariaExpanded = String(isShown);
    if (!isShown) return this.button.focus();
    this.#search.value = "";
    this.#search.focus();
    void this.#find();
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
    choose.append(element("bdi", "", legible(name)), element("span", "note", legible(unit ?? "")));
    choose.title = legible(description ?? name);
    choose.addEventListener("click", () => {
      this.#show(false);
      this.#chosen(name);
    });
    row.append(choose);
    return row;
  }

  #pressed(event: KeyboardEvent): void {
    event.stopPropagation();
    const rows = [...this.#found.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") this.#show(false);
    else if (event.key === "ArrowDown") rows[Math.min(rows.length - 1, at + 1)]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? rows[at - 1] : this.#search)?.focus();
    else if (event.key === "Enter" && document.activeElement === this.#search) rows[0]?.click();
    else return;
    event.preventDefault();
  }
}
