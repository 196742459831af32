// A layout as the broker keeps it, and its draft while a person changes it. It sends nothing and touches no page.
import type { GridBox } from "./layout-grid.ts";
import { fields, list, NotUnderstood, orNull, parse, type TypeOf } from "./shape.ts";

export const WIDGETS_MAX = 60;
export const TITLE_MAX = 100;
const NAME_MAX = 64;
const DRAFT_PREFIX = "slipring.layout.";
/** Drafts that are kept; the oldest go first. */
const DRAFTS_MAX = 20;

/** The options of a widget are its own business: whatever JSON has, the names of its parameters in `names`. */
export type WidgetOptions = Readonly<Record<string, unknown>>;

export interface PlacedWidget extends GridBox {
  readonly kind: string;
  readonly title: string;
  readonly options: WidgetOptions;
}

export interface LayoutDocument {
  readonly title: string;
  readonly widgets: readonly PlacedWidget[];
}

const LayoutRow = fields({
  name: "text", title: "text", is_ready_made: "truth", changed_ms: orNull("number"), by: orNull("text"),
  trouble: orNull("text"),
});
export type LayoutRow = TypeOf<typeof LayoutRow>;
const LayoutRows = fields({ layouts: list(LayoutRow) });
const LayoutHead = fields({
  name: "text", title: "text", is_ready_made: "truth", changed_ms: orNull("number"), by: orNull("text"),
  is_narrowed: "truth",
  widgets: list(fields({ kind: "text", title: "text", x: "number", y: "number", w: "number", h: "number" })),
});

/** What the broker answers about one layout. */
export interface KeptLayout {
  readonly name: string;
  readonly is_ready_made: boolean;
  readonly is_narrowed: boolean;
  readonly changed_ms: number | null;
  readonly by: string | null;
  readonly document: LayoutDocument;
}

export function readRows(text: string): LayoutRow[] {
  return parse(LayoutRows, text).layouts;
}

export function readLayout(text: string): KeptLayout {
  const { widgets, title, ...head } = parse(LayoutHead, text);
  const raw = (JSON.parse(text) as { widgets: { options?: unknown }[] }).widgets;
  const placed = widgets.map((widget, at) => ({ ...widget, options: optionsOf(raw[at]?.options) }));
  return { ...head, document: { title, widgets: placed } };
}

function optionsOf(value: unknown): WidgetOptions {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new NotUnderstood('"options" is not an object');
  return value as WidgetOptions;
}

/** The parameters of a widget; whatever is no list of names is none. */
export function namesOf(options: WidgetOptions): string[] {
  const names = options["names"];
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** The name in the address that a new layout gets from its title; none that is taken. */
export function nameFrom(title: string, taken: readonly string[]): string {
  const plain = title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  const first = plain.slice(0, NAME_MAX - 4).replace(/-+$/, "") || "layout";
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!taken.includes(name)) return name;
  }
}

/** What is not saved yet, and from which version it was made. */
export interface LayoutDraft {
  readonly document: LayoutDocument;
  readonly base_ms: number | null;
  readonly at_ms: number;
}

/** Drafts in the browser, one for each layout, so that a reload loses none. A full or closed storage keeps none. */
export class LayoutDrafts {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  read(name: string): LayoutDraft | null {
    try {
      const text = this.#storage.getItem(DRAFT_PREFIX + name);
      if (text === null) return null;
      const { document, base_ms, at_ms } = JSON.parse(text) as LayoutDraft;
      const head = { name, is_ready_made: false, is_narrowed: false, changed_ms: base_ms, by: null };
      return { document: readLayout(JSON.stringify({ ...head, ...document })).document, base_ms, at_ms };
    } catch {
      return null;
    }
  }

  write(name: string, draft: LayoutDraft): void {
    try {
      this.#storage.setItem(DRAFT_PREFIX + name, JSON.stringify(draft));
      this.#forgetOldest();
    } catch {
      // Without room the page still has the draft until it is closed.
    }
  }

  forget(name: string): void {
    try {
      this.#storage.removeItem(DRAFT_PREFIX + name);
    } catch {
      // There is none then.
    }
  }

  #forgetOldest(): void {
    const names = Array.from({ length: this.#storage.length }, (_, at) => this.#storage.key(at) ?? "")
      .filter((key) => key.startsWith(DRAFT_PREFIX))
      .map((key) => key.slice(DRAFT_PREFIX.length));
    if (names.length <= DRAFTS_MAX) return;
    const aged = names.map((name) => ({ name, at_ms: this.read(name)?.at_ms ?? 0 })).sort((one, other) => one.at_ms - other.at_ms);
    for (const { name } of aged.slice(0, names.length - DRAFTS_MAX)) this.forget(name);
  }
}
