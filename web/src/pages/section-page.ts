// A page whose sections are in index.html. Its views are made once and drawn while it is shown.
import type { Page, PageContext } from "./page.ts";

type Draw = (context: PageContext, now_ms: number) => void;

export class SectionPage implements Page {
  readonly path: string;
  readonly title: string;
  readonly #draw: Draw;
  #context: PageContext | null = null;

  constructor(path: string, title: string, draw: Draw) {
    this.path = path;
    this.title = title;
    this.#draw = draw;
  }

  show(_: HTMLElement, context: PageContext): void {
    this.#context = context;
  }

  render(now_ms: number): void {
    if (this.#context) this.#draw(this.#context, now_ms);
  }

  hide(): void {
    this.#context = null;
  }
}
