// Says which keys and gestures there are. It changes nothing.
import { element } from "../views/page.ts";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["Space", "pause; play on from there"],
  ["L", "live"],
  ["← →", "earlier, later by a tenth of what is shown; with Shift by all of it"],
  ["+ −", "less time, more time"],
  ["A B", "place a cursor at the pointer, or in the middle"],
  ["Esc", "remove the cursors"],
  ["?", "this list"],
  ["Drag", "on a plot: another time"],
  ["Shift + drag", "on a plot: zoom to a stretch of time"],
  ["Wheel, two fingers", "on a plot: zoom. Where the page scrolls, click the plot first or hold Ctrl"],
  ["Click", "on a plot: cursor A, then B"],
];

export class HelpDialog {
  readonly #dialog = element("dialog", "help");

  constructor() {
    const list = element("dl", "help-keys");
    for (const [keys, does] of KEYS) {
      const row = element("div");
      const term = element("dt");
      term.append(element("kbd", "", keys));
      row.append(term, element("dd", "", does));
      list.append(row);
    }
    const close = element("button", "deed", "Close");
    close.type = "button";
    close.addEventListener("click", () => this.#dialog.close());
    this.#dialog.ariaLabel = "Keys and gestures";
    this.#dialog.append(element("h2", "", "Keys and gestures"), list, close);
    document.body.append(this.#dialog);
  }

  show(): void {
    if (this.#dialog.open) this.#dialog.close();
    else this.#dialog.showModal();
  }
}
