// The times that a person points at or has marked, shared by all widgets of a page: the pointer, and cursors A and B. Pure.

export type CursorName = "a" | "b";

export class TimeCursors {
  #hover_ms: number | null = null;
  #marks: Record<CursorName, number | null> = { a: null, b: null };
  #revision = 0;

  /** Another number whenever one of them moved. */
  get revision(): number {
    return this.#revision;
  }

  /** The time under the pointer; null while it is on no widget. */
  get hover_ms(): number | null {
    return this.#hover_ms;
  }

  get a_ms(): number | null {
    return this.#marks.a;
  }

  get b_ms(): number | null {
    return this.#marks.b;
  }

  hover(at_ms: number | null): void {
    if (at_ms === this.#hover_ms) return;
    this.#hover_ms = at_ms;
    this.#revision += 1;
  }

  place(name: CursorName, at_ms: number | null): void {
    this.#marks[name] = at_ms;
    this.#revision += 1;
  }

  /** A click sets A, the next one B, and a third one begins anew. */
  click(at_ms: number): void {
    if (this.a_ms === null || this.b_ms !== null) {
      this.place("b", null);
      this.place("a", at_ms);
    } else this.place("b", at_ms);
  }

  clear(): void {
    this.place("a", null);
    this.place("b", null);
  }
}
