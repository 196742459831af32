// A page whose sections are in index.html. Its views are made once and drawn while it is shown.
import type { Page, PageContext } from "./page.ts";

type Draw = (context: PageContext, now_ms: number) => void;

export class SectionPage implements Page {
  readonly path: string;
  readonly title: string;
  readonly #draw: Draw;
  readonly #follow: (query: URLSearchParams) => void;
  #context: PageContext | null = null;

  /** `follow` takes the query of the address, when the page is shown. */
  constructor(path: string, title: string, draw: Draw, follow: (query: URLSearchParams) => void = () => {}) {
    this.path = path;
    this.title = title;
    this.#draw = draw;
    this.#follow = follow;
  }

  show(_root: HTMLElement, context: PageContext, _rest: string, query: URLSearchParams): void {
    this.#context = context;
    this.#follow(query);
  }

  render(now_ms: number): void {
    if (this.#context) this.#draw(this.#context, now_ms);
  }

  hide(): void {
    this.#context = null;
  }
}
