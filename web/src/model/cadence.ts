// How often a topic is published, worked out from its message count, and whether it has fallen silent.

const WINDOW_MS = 5_000;
const MARK_SPACING_MS = 1_000;
const MARKS_MAX = 8;
const SILENT_PERIODS = 5;
const SILENT_AFTER_MS_MIN = 2_000;

interface Mark {
  at_ms: number;
  count: number;
}

export class Cadence {
  /** Oldest first; the newest observation is in `#last`. */
  #marks: Mark[] = [];
  #last: Mark | null = null;

  observe(at_ms: number, count: number): void {
    const last = this.#last;
    if (last && (count < last.count || at_ms < last.at_ms)) this.#marks = []; // The broker started anew.
    else if (last && count === last.count) return;
    this.#keepMark(at_ms, count);
    this.#last = { at_ms, count };
  }

  /** Messages per second; null while only one observation exists, 0 once silent. */
  perSecond(now_ms: number): number | null {
    const period_ms = this.#period_ms();
    if (period_ms === null) return null;
    return this.isSilent(now_ms) ? 0 : 1_000 / period_ms;
  }

  /** True when several expected messages in a row did not come. */
  isSilent(now_ms: number): boolean {
    const period_ms = this.#period_ms();
    if (period_ms === null || this.#last === null) return false;
    const limit_ms = Math.max(SILENT_AFTER_MS_MIN, SILENT_PERIODS * period_ms);
    return now_ms - this.#last.at_ms > limit_ms;
  }

  #keepMark(at_ms: number, count: number): void {
    const newest = this.#marks.at(-1);
    if (newest && at_ms - newest.at_ms < MARK_SPACING_MS) return;
    this.#marks.push({ at_ms, count });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** Mean time between messages from the newest mark that lies a whole window back, else from the oldest. */
  #period_ms(): number | null {
    const last = this.#last;
    if (last === null) return null;
    const from = this.#marks.findLast((mark) => last.at_ms - mark.at_ms >= WINDOW_MS) ?? this.#marks[0];
    if (!from || from.count >= last.count || from.at_ms >= last.at_ms) return null;
    return (last.at_ms - from.at_ms) / (last.count - from.count);
  }
}
