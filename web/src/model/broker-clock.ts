// An estimate of the broker's clock, for ages and charts: a wrong clock on this machine does no harm.
// It follows the least delayed messages, so a message that waited in a queue counts as late.

/** How far two clocks may drift apart: 200 parts in a million, more than any quartz. */
const DRIFT_MAX = 0.000_2;

export class BrokerClock {
  #offset_ms: number | null = null;
  #observed_at_ms = 0;
  #broker_ms = 0;

  /**
   * `local_ms` is the page's monotonic clock when the message arrived. A new connection has no queue yet, and a time
   * before the last one means that the broker's clock was set: both start anew.
   */
  observe(broker_ms: number, local_ms: number, first: boolean): void {
    const offset_ms = broker_ms - local_ms;
    const anew = first || this.#offset_ms === null || broker_ms < this.#broker_ms;
    this.#offset_ms = anew ? offset_ms : Math.max(offset_ms, this.#drifted(local_ms));
    this.#observed_at_ms = local_ms;
    this.#broker_ms = broker_ms;
  }

  /** Null until the first message. */
  now(local_ms: number): number | null {
    return this.#offset_ms === null ? null : local_ms + this.#offset_ms;
  }

  /** When, on the page's clock, the newest message was true; null before the first. */
  get heard_at_ms(): number | null {
    return this.#offset_ms === null ? null : this.#broker_ms - this.#offset_ms;
  }

  #drifted(local_ms: number): number {
    return (this.#offset_ms ?? 0) - DRIFT_MAX * (local_ms - this.#observed_at_ms);
  }
}
