// Keeps the shown time in the address, and follows the address to another time. It replaces the address: no history grows.
import type { TimeControl } from "../model/time-control.ts";
import { applyTime, queryText, saysTime, withTime } from "../model/time-address.ts";
import { readAddress } from "./router.ts";

/** An address that changed with every step of a drag would be slow, and browsers refuse it. */
const SETTLE_MS = 400;
/** While the past is played, the address follows it so often: who shares it shares what is seen. */
const FOLLOW_MS = 3_000;

export class AddressTime {
  readonly #time: TimeControl;
  #pending: URLSearchParams | null = null;
  #revision = 0;
  #timer = 0;
  #written_at_ms = 0;
  #isElsewhere = false;

  constructor(time: TimeControl) {
    this.#time = time;
    this.#revision = time.revision;
  }

  /** The address says a time that could not be shown yet: until the broker's clock is known. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** There is another address: its time is shown as soon as the broker's clock is known. One without a time gets the shown one. */
  follow(): void {
    const query = readAddress(window.location.hash)?.query;
    if (query && saysTime(query)) this.#pending = query;
    else this.#isElsewhere = true;
  }

  /** `isShown`: the page that is shown follows the time. */
  render(live_ms: number | null, isShown: boolean): void {
    if (live_ms === null) return;
    if (this.#pending) {
      applyTime(this.#pending, this.#time, live_ms);
      this.#pending = null;
    } else if (isShown && this.#isElsewhere) this.#write(live_ms);
    else if (isShown && this.#revision !== this.#time.revision) this.#later(live_ms);
    else if (isShown && this.#time.mode === "replay" && Math.abs(live_ms - this.#written_at_ms) > FOLLOW_MS) this.#write(live_ms);
    this.#isElsewhere = false;
    this.#revision = this.#time.revision;
  }

  #later(live_ms: number): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#write(live_ms + SETTLE_MS), SETTLE_MS);
  }

  #write(live_ms: number): void {
    this.#written_at_ms = live_ms;
    const hash = window.location.hash || "#/";
    const address = readAddress(hash);
    if (!address) return;
    const [route = "#/"] = hash.split("?", 1);
    const query = withTime(address.query, this.#time, live_ms);
    if (query.toString() === address.query.toString()) return;
    const text = queryText(query);
    history.replaceState(null, "", text ? `${route}?${text}` : route);
  }
}
