// A button that opens a search, in which a person finds a parameter to add.
import type { DefinitionStore } from "../model/definition-store.ts";
import { element } from "../views/page.ts";
import { ParameterSearch } from "./parameter-search.ts";

export class ParameterPicker {
  readonly button = element("button", "plot-deed", "+ Add");
  readonly panel = element("div", "picker");
  readonly #search: ParameterSearch;

  constructor(definitions: DefinitionStore, chosen: (name: string) => void) {
    this.button.type = "button";
    this.button.title = "Add a parameter";
    this.button.ariaExpanded = "false";
    this.panel.hidden = true;
    this.#search = new ParameterSearch(definitions, "Search a parameter to add", {
      chosen: (name) => {
        this.#show(false);
        chosen(name);
      },
      ended: () => this.#show(false),
    });
    this.panel.append(this.#search.element);
    this.button.addEventListener("click", () => this.#show(this.panel.hidden !== false));
  }

  #show(isShown: boolean): void {
    this.panel.hidden = !isShown;
    this.button.ariaExpanded = String(isShown);
    if (!isShown) return this.button.focus();
    this.#search.begin();
    this.#search.focus();
  }
}
