// What parameters are: unit, limits, description. Asked for by name, once; it keeps a bounded number.
import type { ParameterDefinition } from "./contract.ts";

const DEFINITIONS_MAX = 2_000;
/** A name that nobody has declared, or an answer that did not come, is asked for again after this time. */
const AGAIN_MS = 5_000;

/** Finds parameters by a part of their name, or by a filter. */
export type FetchDefinitions = (search: string) => Promise<readonly ParameterDefinition[]>;

export class DefinitionStore {
  readonly #fetch: FetchDefinitions;
  readonly #changed: () => void;
  readonly #known = new Map<string, ParameterDefinition>();
  readonly #asked_at_ms = new Map<string, number>();
  #revision = 0;

  constructor(fetch: FetchDefinitions, changed: () => void) {
    this.#fetch = fetch;
    this.#changed = changed;
  }

  /** Another number whenever more is known. */
  get revision(): number {
    return this.#revision;
  }

  /** Null while it is not known, or if no parameter has the name; asks for it the first time. */
  get(name: string): ParameterDefinition | null {
    const known = this.#known.get(name);
    if (known) return known;
    const asked_at_ms = this.#asked_at_ms.get(name) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() > asked_at_ms + AGAIN_MS) void this.#ask(name);
    return null;
  }

  /** The parameters that a person searches for. */
  async search(text: string): Promise<readonly ParameterDefinition[]> {
    const found = await this.#fetch(text);
    for (const one of found) if (!this.#known.has(one.name)) this.take(one);
    return found;
  }

  /** Takes what came with another answer. */
  take(definition: ParameterDefinition): void {
    if (this.#known.size >= DEFINITIONS_MAX) this.#known.clear();
    this.#known.set(definition.name, definition);
    this.#asked_at_ms.delete(definition.name);
    this.#revision += 1;
  }

  async #ask(name: string): Promise<void> {
    if (this.#asked_at_ms.size >= DEFINITIONS_MAX) this.#asked_at_ms.clear();
    this.#asked_at_ms.set(name, performance.now());
    // The filter `a/b/#` also matches `a/b`, and that comes first.
    const found = await this.#fetch(`${name}/#`).catch(() => []);
    const exact = found.find((one) => one.name === name);
    if (exact) this.take(exact);
    this.#changed();
  }
}
