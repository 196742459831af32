// All layouts: ready-made ones and those that people saved, to open, copy, rename and delete. Titles go in as text only.
import { type LayoutRow, TITLE_MAX } from "../model/layout.ts";
import { age, legible } from "../model/wording.ts";
import { deed } from "./layout-bar.ts";
import { element } from "./page.ts";

export interface ListActions {
  readonly copy: (row: LayoutRow) => void;
  readonly rename: (row: LayoutRow, title: string) => void;
  readonly remove: (row: LayoutRow) => void;
  readonly make: (title: string) => void;
}

export class LayoutList {
  readonly root = element("div", "layout-list");
  readonly #ready = element("ul", "layout-cards");
  readonly #own = element("ul", "layout-rows");
  readonly #none = element("p", "note");
  readonly #form = element("form", "layout-new");
  readonly #actions: ListActions;

  constructor(actions: ListActions) {
    this.#actions = actions;
    const title = element("input");
    title.maxLength = TITLE_MAX;
    title.required = true;
    title.placeholder = "Title of a new layout";
    title.ariaLabel = "Title of a new layout";
    const make = element("button", "deed deed-first", "New layout");
    this.#form.append(title, make);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      actions.make(plainTitle(title.value));
    });
    this.root.append(heading("Ready-made", "made of the parameters that there are"), this.#ready);
    this.root.append(heading("Saved", "seen by everybody who may watch", this.#form), this.#own, this.#none);
  }

  show(rows: readonly LayoutRow[], mayEdit: boolean, now_ms: number): void {
    this.#form.hidden = !mayEdit;
    this.#ready.replaceChildren(...rows.filter((row) => row.is_ready_made).map((row) => this.#card(row, mayEdit)));
    const own = rows.filter((row) => !row.is_ready_made);
    this.#own.replaceChildren(...own.map((row) => this.#row(row, mayEdit, now_ms)));
    this.#none.hidden = own.length > 0;
    this.#none.textContent = mayEdit ? "None yet. Copy a ready-made one, or begin with an empty one." : "None yet. Saving one takes the right to administer layouts.";
  }

  #card(row: LayoutRow, mayEdit: boolean): HTMLLIElement {
    const card = element("li", "layout-card panel");
    card.append(link(row));
    if (mayEdit) card.append(deed("Copy", () => this.#actions.copy(row)));
    return card;
  }

  #row(row: LayoutRow, mayEdit: boolean, now_ms: number): HTMLLIElement {
    const item = element("li", "layout-row panel");
    item.dataset["layout"] = row.name;
    const by = row.by === null ? "" : ` by ${legible(row.by)}`;
    const saved = row.changed_ms === null ? "" : `saved ${age(now_ms - row.changed_ms)}${now_ms - row.changed_ms < 1_000 ? "" : " ago"}${by}`;
    const buttons = element("div", "layout-deeds");
    if (mayEdit && row.trouble === null) {
      buttons.append(deed("Copy", () => this.#actions.copy(row)), deed("Rename", () => this.#rename(item, row)));
    }
    if (mayEdit) buttons.append(deed("Delete", () => this.#actions.remove(row)));
    item.append(link(row), element("p", "note", row.trouble === null ? saved : legible(row.trouble)), buttons);
    return item;
  }

  #rename(item: HTMLElement, row: LayoutRow): void {
    const form = element("form", "layout-new");
    const field = element("input");
    field.maxLength = TITLE_MAX;
    field.value = row.title;
    field.ariaLabel = `New title of ${legible(row.title)}`;
    form.append(field, element("button", "deed deed-first", "Rename"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#actions.rename(row, plainTitle(field.value));
    });
    item.replaceChildren(form);
    field.select();
  }
}

/** Characters that cannot be seen are no part of a title. */
function plainTitle(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
}

function heading(text: string, note: string, further: HTMLElement | null = null): HTMLElement {
  const made = element("div", "layout-list-head");
  made.append(element("h2", "", text), element("p", "note", note));
  if (further) made.append(further);
  return made;
}

function link(row: LayoutRow): HTMLAnchorElement {
  const made = element("a", "layout-link", legible(row.title));
  made.href = `#/layouts/${encodeURIComponent(row.name)}`;
  return made;
}
