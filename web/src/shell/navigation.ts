// The links to all pages. On a phone they are in a line that can be moved.
import type { Page } from "../pages/page.ts";
import { element, part } from "../views/page.ts";

export class Navigation {
  readonly #links = new Map<string, HTMLAnchorElement>();

  constructor(pages: readonly Page[]) {
    const list = part("pages");
    for (const { path, title, isOffered } of pages) {
      const link = element("a", "", title);
      link.href = `#/${path}`;
      const item = element("li");
      item.append(link);
      list.append(item);
      item.hidden = isOffered?.() === false;
      this.#links.set(path, link);
    }
  }

  /** A page that is shown is in it, also where it is not offered: the address said so. */
  mark({ path }: Page): void {
    const own = this.#links.get(path)?.parentElement;
    if (own) own.hidden = false;
    for (const [one, link] of this.#links) {
      if (one === path) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.#links.get(path)?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  /** A small number beside a page's name, such as that of unacknowledged alarms; empty for none. */
  badge(path: string, text: string): void {
    const link = this.#links.get(path);
    if (!link || (link.dataset["badge"] ?? "") === text) return;
    if (text) link.dataset["badge"] = text;
    else delete link.dataset["badge"];
  }
}
