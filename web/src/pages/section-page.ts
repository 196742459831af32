// A page whose sections are in index.html. Its views are made once and drawn while it is shown.
import type { LivePart } from "../model/live-parts.ts";
import type { Page, PageContext } from "./page.ts";

type Draw = (context: PageContext, now_ms: number) => void;

/** Lists of the live message: those that it shows, and those that it needs while another page is shown. */
interface Needs {
  readonly shown?: readonly LivePart[];
  readonly beyond?: () => readonly LivePart[];
}

export class SectionPage implements Page {
  readonly path: string;
  readonly title: string;
  readonly parts: () => readonly LivePart[];
  readonly partsBeyond: () => readonly LivePart[];
  readonly #draw: Draw;
  #context: PageContext | null = null;

  constructor(path: string, title: string, draw: Draw, { shown = [], beyond = () => [] }: Needs = {}) {
    this.parts = () => shown;
    this.partsBeyond = beyond;
    this.path = path;
    this.title = title;
    this.#draw = draw;
  }

  show(_root: HTMLElement, context: PageContext, _rest: string, _query: URLSearchParams): void {
    this.#context = context;
  }

  render(now_ms: number): void {
    if (this.#context) this.#draw(this.#context, now_ms);
  }

  hide(): void {
    this.#context = null;
  }
}
