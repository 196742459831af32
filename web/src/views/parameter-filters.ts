// The search box for parameters, and lists that write its words for who does not know them.
import type { WordCount } from "../model/contract.ts";
import { branchOf, withBranch, withWord, type WordKind, wordOf } from "../model/search-words.ts";
import { count, legible } from "../model/wording.ts";
import { element } from "./page.ts";

/** What the broker takes at most. */
const SEARCH_MAX = 1_000;
const STATES: readonly [word: string, title: string][] = [
  ["good", "good"],
  ["limit", "beyond a limit"],
  ["stale", "stale"],
  ["bad", "bad"],
  ["uncertain", "uncertain"],
  ["none", "no value yet"],
];
const SORTS: readonly [sort: string, title: string][] = [
  ["name", "name"],
  ["-name", "name, last first"],
  ["state", "state, worst first"],
  ["-state", "state, best first"],
  ["age", "age, newest first"],
  ["-age", "age, oldest first"],
  ["rate", "rate, highest first"],
  ["-rate", "rate, lowest first"],
];

/** How marked parameters are shown. */
export type FavouritesUse = "" | "first" | "only";
const USES: readonly [use: FavouritesUse, title: string][] = [
  ["", "among the others"],
  ["first", "first"],
  ["only", "only these"],
];

export class ParameterFilters {
  readonly search = element("input");
  readonly root = element("div", "parameter-filters");
  readonly #lists = new Map<WordKind, HTMLSelectElement>();
  readonly #sort = element("select");
  readonly #use = element("select");
  readonly #branch = element("button", "chip");
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    Object.assign(this.search, { type: "search", id: "parameters-search", autocomplete: "off", autocapitalize: "off" });
    this.search.placeholder = "Search: rpm, unit:kPa, state:stale, gripen/+/engine/#";
    this.search.spellcheck = false;
    this.search.ariaLabel = "Search parameters";
    this.search.maxLength = SEARCH_MAX;
    this.search.addEventListener("input", () => this.#written());
    this.root.append(this.#list("State", "state"), this.#list("Unit", "unit"), this.#list("Publisher", "publisher"));
    this.root.append(this.#choice("Sort by", this.#sort, SORTS), this.#choice("Favourites", this.#use, USES), this.#branch);
    this.#branch.type = "button";
    this.#branch.title = "Show all names";
    this.#branch.addEventListener("click", () => this.write(withBranch(this.search.value, null)));
    this.#fill("state", STATES);
    this.offer([], []);
  }

  get sort(): string {
    return this.#sort.value;
  }

  set sort(sort: string) {
    this.#sort.value = SORTS.some(([known]) => known === sort) ? sort : "name";
  }

  get use(): FavouritesUse {
    return this.#use.value as FavouritesUse;
  }

  set use(use: string) {
    this.#use.value = USES.find(([known]) => known === use)?.[0] ?? "";
  }

  /** Writes another search, and tells of it. */
  write(search: string): void {
    this.set(search);
    this.#changed();
  }

  /** Shows a search that comes from the address. */
  set(search: string): void {
    this.search.value = search.slice(0, SEARCH_MAX);
    this.#show();
  }

  /** The units and the publishers that there are. */
  offer(units: readonly WordCount[], publishers: readonly WordCount[]): void {
    const named = ({ word, parameters }: WordCount): [string, string] => [word, `${legible(word)} (${count(parameters)})`];
    this.#fill("unit", units.map(named));
    this.#fill("publisher", publishers.map(named));
    this.#show();
  }

  #written(): void {
    this.#show();
    this.#changed();
  }

  /** Lists and the branch follow the words that somebody typed. */
  #show(): void {
    for (const [kind, list] of this.#lists) {
      const word = wordOf(this.search.value, kind);
      list.value = word ?? "";
      if (list.value === (word ?? "")) continue;
      const own = element("option", "", legible(word ?? ""));
      own.value = word ?? "";
      list.append(own);
      list.value = own.value;
    }
    const branch = branchOf(this.search.value);
    this.#branch.hidden = branch === null;
    this.#branch.textContent = branch === null ? "" : `${legible(branch)}/ ✕`;
    this.#branch.ariaLabel = branch === null ? "" : `Only ${legible(branch)}; show all names`;
  }

  #list(title: string, kind: WordKind): HTMLElement {
    const list = element("select");
    this.#lists.set(kind, list);
    const label = this.#choice(title, list, []);
    list.addEventListener("change", () => this.write(withWord(this.search.value, kind, list.value || null)));
    return label;
  }

  #fill(kind: WordKind, words: readonly [string, string][]): void {
    const list = this.#lists.get(kind);
    if (!list) return;
    const any = element("option", "", "any");
    any.value = "";
    list.replaceChildren(any, ...words.map(option));
    const label = list.parentElement;
    if (label) label.hidden = words.length === 0;
  }

  #choice(title: string, list: HTMLSelectElement, choices: readonly (readonly [string, string])[]): HTMLElement {
    const label = element("label", "", `${title} `);
    list.append(...choices.map(option));
    list.dataset["choice"] = title.toLowerCase();
    if (choices.length > 0) list.addEventListener("change", () => this.#changed());
    label.append(list);
    return label;
  }
}

function option([value, title]: readonly [string, string]): HTMLOptionElement {
  const made = element("option", "", title);
  made.value = value;
  return made;
}
