// Which parameters a person drew last. They are kept in the browser; a storage that refuses makes them last for the page.

/** The newest come first; older ones are forgotten. */
export const DRAWN_MAX = 12;
const NAME_MAX = 1_024;
const KEY = "slipring.drawn";

export class DrawnBefore {
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | null;
  #names: readonly string[];

  constructor(storage: Pick<Storage, "getItem" | "setItem"> | null) {
    this.#storage = storage;
    this.#names = read(storage);
  }

  /** The newest first. */
  get names(): readonly string[] {
    return this.#names;
  }

  add(names: readonly string[]): void {
    const next = bounded([...names, ...this.#names]);
    if (next.length === this.#names.length && next.every((name, at) => name === this.#names[at])) return;
    this.#names = next;
    try {
      this.#storage?.setItem(KEY, JSON.stringify(next));
    } catch {
      // No room, or not allowed: they last for this page.
    }
  }
}

function bounded(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name !== "" && name.length <= NAME_MAX))].slice(0, DRAWN_MAX);
}

/** What another page of this browser wrote is no more trusted than a message. */
function read(storage: Pick<Storage, "getItem"> | null): string[] {
  try {
    const told: unknown = JSON.parse(storage?.getItem(KEY) ?? "[]");
    return bounded(Array.isArray(told) ? told.filter((name) => typeof name === "string") : []);
  } catch {
    return [];
  }
}
