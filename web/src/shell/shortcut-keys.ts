// Listens to the keyboard and shows the list of keys. It never takes a key from a field that a person types in.
import { PAGE_LETTERS, Shortcuts } from "../model/shortcut.ts";
import type { Page } from "../pages/page.ts";
import { element, part } from "../views/page.ts";
import { PLOT_GESTURES, TIME_KEYS } from "./time-keys.ts";

const FIELDS = "input, select, textarea, [contenteditable]";
const OTHERS: readonly [string, string][] = [
  ["/", "search on this page"],
  ["?", "this list"],
  ["↑ ↓ Enter", "choose a row of a table"],
  ["Esc", "close"],
];

export class ShortcutKeys {
  readonly #shortcuts = new Shortcuts();
  readonly #pages: readonly Page[];
  readonly #dialog = element("dialog", "keys");

  constructor(pages: readonly Page[]) {
    this.#pages = pages;
    this.#dialog.id = "keys";
    this.#dialog.setAttribute("aria-labelledby", "keys-title");
    document.body.append(this.#dialog);
    part("show-keys").addEventListener("click", () => this.#show());
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || this.#dialog.open) return;
    if (document.body.dataset["login"] || (event.target instanceof Element && event.target.closest(FIELDS))) return;
    const act = this.#shortcuts.pressed(event.key, event.timeStamp);
    if (act === null) return;
    if (act.kind === "page") {
      if (this.#pages.some(({ path }) => path === act.path)) window.location.hash = `#/${act.path}`;
    } else if (act.kind === "help") {
      this.#show();
    } else if (!focusSearch()) {
      return;
    }
    event.preventDefault();
  }

  #show(): void {
    const title = element("h2", "", "Keyboard");
    title.id = "keys-title";
    // The first button has the focus otherwise, and a low window shows the end of the list.
    title.tabIndex = -1;
    title.autofocus = true;
    const list = element("dl");
    for (const { path, title: name } of this.#pages) {
      const letter = PAGE_LETTERS[path];
      if (letter) list.append(keyRow(`g ${letter}`, name));
    }
    for (const [keys, what] of [...OTHERS, ...TIME_KEYS, ...PLOT_GESTURES]) list.append(keyRow(keys, what));
    const form = element("form");
    form.method = "dialog";
    form.append(element("button", "deed", "Close"));
    this.#dialog.replaceChildren(title, list, form);
    this.#dialog.showModal();
  }
}

function keyRow(keys: string, what: string): HTMLElement {
  const row = element("div");
  const name = element("dt");
  keys.split(" ").forEach((key) => name.append(element("kbd", "", key)));
  row.append(name, element("dd", "", what));
  return row;
}

/** Goes to the first search box that is seen; false if the page has none. */
function focusSearch(): boolean {
  const boxes = [...part("main").querySelectorAll<HTMLInputElement>("input[type=search]")];
  const box = boxes.find((one) => one.checkVisibility());
  box?.focus();
  box?.select();
  return box !== undefined;
}
