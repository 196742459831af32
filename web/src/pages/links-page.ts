// Links to other brokers. This broker stands alone; the page says what to do with two.
import { element, explain } from "../views/page.ts";
import type { Page } from "./page.ts";

const ALONE = "This broker stands alone: it has no link to another one. To read two side by side, subscribe to each:";
const COMMANDS = [
  "slipring sub --url mqtt://first.example '#'",
  "slipring sub --url mqtt://second.example '#'",
];

export class LinksPage implements Page {
  readonly path = "links";
  readonly title = "Links";

  /** Whether the navigation has it. */
  isOffered(): boolean {
    return false;
  }

  show(root: HTMLElement): void {
    if (root.childElementCount > 0) return;
    const panel = element("section", "panel");
    const title = element("h2", "", "Links");
    title.id = "links-title";
    panel.setAttribute("aria-labelledby", title.id);
    const head = element("div", "panel-head");
    const empty = element("div", "empty");
    head.append(title);
    explain(empty, ALONE, COMMANDS);
    panel.append(head, empty);
    root.append(panel);
  }

  render(): void {
    // Nothing on it changes.
  }

  hide(): void {
    // It began nothing.
  }
}
