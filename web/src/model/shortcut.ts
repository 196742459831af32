// Keys that go to pages and to the search box. Pure: keys in, acts out.

/** The letter after `g` for each page. */
export const PAGE_LETTERS: Readonly<Record<string, string>> = {
  "": "o",
  plots: "p",
  layouts: "l",
  alarms: "a",
  flow: "f",
  broker: "b",
  clients: "c",
  topics: "t",
  storage: "s",
  requests: "r",
  pipeline: "i",
  links: "k",
  events: "e",
};

/** A letter that comes later than this belongs to no `g` before it. */
const TOGETHER_MS = 1_500;

export type ShortcutAct = { readonly kind: "help" | "search" } | { readonly kind: "page"; readonly path: string };

export class Shortcuts {
  #g_at_ms = -Infinity;

  /** What a key means, pressed outside of fields and without Ctrl, Alt or Meta; null if nothing. */
  pressed(key: string, now_ms: number): ShortcutAct | null {
    const follows = now_ms - this.#g_at_ms <= TOGETHER_MS;
    this.#g_at_ms = key === "g" && !follows ? now_ms : -Infinity;
    if (follows) {
      const path = Object.keys(PAGE_LETTERS).find((one) => PAGE_LETTERS[one] === key);
      return path === undefined ? null : { kind: "page", path };
    }
    if (key === "?") return { kind: "help" };
    return key === "/" ? { kind: "search" } : null;
  }
}
