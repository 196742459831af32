// What was, to go back to: states that never change, and a bounded number of them.

const STATES_MAX = 60;

export class UndoStack<T> {
  #past: T[] = [];
  #future: T[] = [];
  #now: T;

  constructor(now: T) {
    this.#now = now;
  }

  get now(): T {
    return this.#now;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  /** Another state; what was undone before is gone. */
  push(next: T): void {
    this.#past = [...this.#past, this.#now].slice(-STATES_MAX);
    this.#future = [];
    this.#now = next;
  }

  undo(): T {
    const before = this.#past.pop();
    if (before === undefined) return this.#now;
    this.#future.push(this.#now);
    this.#now = before;
    return before;
  }

  redo(): T {
    const after = this.#future.pop();
    if (after === undefined) return this.#now;
    this.#past.push(this.#now);
    this.#now = after;
    return after;
  }
}
