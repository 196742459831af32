// Messages in and out per second over the last two minutes.
import type { TrafficCounts } from "./contract.ts";
import { ValueHistory } from "./value-history.ts";

export class Traffic {
  readonly messages_in = new ValueHistory();
  readonly messages_out = new ValueHistory();

  append(at_ms: number, rates: TrafficCounts): void {
    this.messages_in.append(at_ms, rates.messages_in);
    this.messages_out.append(at_ms, rates.messages_out);
  }

  breakOff(at_ms: number): void {
    this.messages_in.breakOff(at_ms);
    this.messages_out.breakOff(at_ms);
  }
}
