// What `/api/subscribers` answers about a topic. Pure.
import { fields, list, orNull, parse, type TypeOf } from "./shape.ts";

const SubscriptionShape = fields({
  client_id: "text", filter: "text", qos: "number", connected: "truth", share: orNull("text"),
});
export type Subscription = TypeOf<typeof SubscriptionShape>;

const Subscribers = fields({ subscribers: list(SubscriptionShape), subscribers_total: "number" });

export function subscribersOf(text: string): { total: number; shown: Subscription[] } {
  const { subscribers, subscribers_total } = parse(Subscribers, text);
  return { total: subscribers_total, shown: subscribers };
}
