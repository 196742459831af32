// Which page the address names. `#/clients` is the page "clients", `#/layouts/flight?from=1` has a rest and a query.
import type { Page, PageContext } from "../pages/page.ts";
import { part, setText } from "../views/page.ts";

export interface PageAddress {
  path: string;
  rest: string;
  query: URLSearchParams;
}

/** Null if the fragment is no page's: links within a page leave the page as it is. */
export function readAddress(fragment: string): PageAddress | null {
  if (fragment !== "" && !fragment.startsWith("#/")) return null;
  const [route = "", query = ""] = splitAt(fragment.slice(2), "?");
  const [path = "", rest = ""] = splitAt(route, "/");
  return { path, rest: decoded(rest), query: new URLSearchParams(query) };
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export class Router {
  readonly #pages: readonly Page[];
  readonly #main: HTMLElement;
  readonly #heading = part("page-title");
  readonly #context: PageContext;
  readonly #changed: (page: Page) => void;
  #shown: Page | null = null;
  #root: HTMLElement | null = null;
  #rest = "";

  constructor(pages: readonly Page[], main: HTMLElement, context: PageContext, changed: (page: Page) => void) {
    this.#pages = pages;
    this.#main = main;
    this.#context = context;
    this.#changed = changed;
    window.addEventListener("hashchange", () => this.follow());
  }

  /** Shows the page that the address names; the first one if there is none of that name. */
  follow(): void {
    const address = readAddress(window.location.hash) ?? (this.#shown ? null : readAddress(""));
    if (address === null) return;
    const page = this.#pages.find(({ path }) => path === address.path) ?? this.#pages[0];
    if (page === undefined) return;
    const turned = this.#shown !== null && (page !== this.#shown || address.rest !== this.#rest);
    this.#leave();
    this.#shown = page;
    this.#rest = address.rest;
    this.#root = this.#rootOf(page);
    this.#root.hidden = false;
    page.show(this.#root, this.#context, address.rest, address.query);
    setText(this.#heading, page.title);
    if (turned) this.#begin();
    this.#changed(page);
    this.#context.requestRender();
  }

  get shown(): Page | null {
    return this.#shown;
  }

  render(now_ms: number): void {
    this.#shown?.render(now_ms);
  }

  /** A person who reads with the ears or the keyboard goes on at the title of the page. */
  #begin(): void {
    window.scrollTo(0, 0);
    this.#heading.focus({ preventScroll: true });
  }

  #leave(): void {
    this.#shown?.hide();
    if (this.#root) this.#root.hidden = true;
  }

  /** The element of a page: one that index.html has, or one that is made with its first visit. */
  #rootOf({ path, title }: Page): HTMLElement {
    const name = path || "overview";
    const found = this.#main.querySelector<HTMLElement>(`:scope > [data-page="${name}"]`);
    if (found) return found;
    const made = document.createElement("div");
    made.className = "page";
    made.dataset["page"] = name;
    made.ariaLabel = title;
    this.#main.append(made);
    return made;
  }
}
