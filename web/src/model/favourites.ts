// The parameters that a person marked. They are kept in the browser; a storage that refuses makes them last for the page.

/** No more can be marked: the page tells the broker all of them. */
export const FAVOURITES_MAX = 50;
const KEY = "slipring.favourites";

export class Favourites {
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | null;
  #names: readonly string[];

  constructor(storage: Pick<Storage, "getItem" | "setItem"> | null) {
    this.#storage = storage;
    this.#names = read(storage);
  }

  /** In the order in which they were marked. */
  get names(): readonly string[] {
    return this.#names;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** False if there is no room for another one. */
  toggle(name: string): boolean {
    if (!this.has(name) && this.#names.length >= FAVOURITES_MAX) return false;
    this.#names = this.has(name) ? this.#names.filter((one) => one !== name) : [...this.#names, name];
    try {
      this.#storage?.setItem(KEY, JSON.stringify(this.#names));
    } catch {
      // No room, or not allowed: they last for this page.
    }
    return true;
  }
}

/** What another page of this browser wrote is no more trusted than a message. */
function read(storage: Pick<Storage, "getItem"> | null): string[] {
  try {
    const told: unknown = JSON.parse(storage?.getItem(KEY) ?? "[]");
    const names = Array.isArray(told) ? told.filter((name) => typeof name === "string") : [];
    return [...new Set(names.filter((name) => name !== "" && name.length <= 1_024))].slice(0, FAVOURITES_MAX);
  } catch {
    return [];
  }
}
