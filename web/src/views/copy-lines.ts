// Commands to copy, each with a button. They are text that a person runs, never run here.
import type { CopyLine } from "../model/contract.ts";
import { copyText } from "./clipboard.ts";
import { element, setText } from "./page.ts";

const SAID_MS = 2_000;

export class CopyLines {
  readonly root = element("div", "copy-lines");
  #said = "";

  render(lines: readonly CopyLine[]): void {
    const wanted = JSON.stringify(lines);
    if (wanted === this.#said) return;
    this.#said = wanted;
    this.root.replaceChildren(...lines.map(block));
  }
}

function block({ title, text }: CopyLine): HTMLElement {
  const made = element("div", "copy-line");
  const head = element("div", "copy-head");
  const button = element("button", "", "Copy");
  button.type = "button";
  button.ariaLabel = `Copy the lines for ${title}`;
  button.addEventListener("click", () => {
    void copyText(text).then((copied) => {
      setText(button, copied ? "Copied" : "Mark and copy");
      window.setTimeout(() => setText(button, "Copy"), SAID_MS);
    });
  });
  head.append(element("h4", "", title), button);
  const code = element("pre", "command", text);
  code.dataset["line"] = title;
  code.tabIndex = 0;
  made.append(head, code);
  return made;
}
