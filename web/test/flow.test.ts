// Rates of clients from counts, who is slow, and who is shown in the picture of the flow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientRates, NO_RATE, slowness } from "../src/model/client-rates.ts";
import { LiveMessage } from "../src/model/contract.ts";
import { flowOf, thickness } from "../src/model/flow.ts";
import { blank } from "./blank.ts";

const CLIENT = blank(LiveMessage.fields.clients.list);

function client(client_id: string, changes: object = {}) {
  return { ...CLIENT, client_id, connected_s: 100, ...changes };
}

test("a rate is what a count grew by, over two seconds", () => {
  const rates = new ClientRates();
  for (let second = 0; second <= 10; second += 1) {
    rates.take(second * 1_000, [client("a", { messages_in: second * second, connected_s: second })]);
  }
  assert.equal(rates.of("a").in_s, (100 - 64) / 2);
  assert.deepEqual(rates.of("nobody"), NO_RATE);
});

test("a client that connected again has no rate of its former connection", () => {
  const rates = new ClientRates();
  rates.take(0, [client("a", { messages_out: 1_000 })]);
  rates.take(1_000, [client("a", { messages_out: 10, connected_s: 0.5 })]);
  assert.equal(rates.of("a").out_s, 0);
  rates.take(2_000, [client("a", { messages_out: 30, connected_s: 1.5 })]);
  assert.equal(rates.of("a").out_s, 20);
});

test("a clock that was set back begins anew, and the same message twice changes nothing", () => {
  const rates = new ClientRates();
  rates.take(9_000, [client("a", { messages_in: 5 })]);
  rates.take(1_000, [client("a", { messages_in: 6 })]);
  rates.take(1_000, [client("a", { messages_in: 6 })]);
  assert.equal(rates.of("a").in_s, 0);
});

test("who loses messages, or has more waiting than it reads in two seconds, is slow", () => {
  assert.equal(slowness(client("a"), NO_RATE), null);
  assert.match(slowness(client("a"), { ...NO_RATE, dropped_s: 1 }) ?? "", /loses/);
  assert.match(slowness(client("a", { slowed: true }), NO_RATE) ?? "", /quota/);
  const waiting = client("a", { queued_messages: 300 });
  assert.match(slowness(waiting, { ...NO_RATE, out_s: 100 }) ?? "", /wait/);
  assert.equal(slowness(waiting, { ...NO_RATE, out_s: 200 }), null);
  assert.match(slowness(client("a", { queued_bytes: 100_000 }), NO_RATE) ?? "", /wait/);
});

test("the busiest come first, the slow are always there, the rest is summed up", () => {
  const clients = Array.from({ length: 30 }, (_, index) =>
    client(`c${index}`, { messages_in: 1, subscriptions: ["#"], queued_messages: index === 0 ? 900 : 0 }),
  );
  const rate = (id: string) => ({ ...NO_RATE, in_s: Number(id.slice(1)), out_s: Number(id.slice(1)) });
  const { publishers, subscribers } = flowOf(clients, rate, 5);
  assert.deepEqual(publishers.shown.map(({ client_id }) => client_id), ["c29", "c28", "c27", "c26", "c25"]);
  assert.deepEqual(subscribers.shown.map(({ client_id }) => client_id), ["c29", "c28", "c27", "c26", "c0"]);
  assert.equal(subscribers.others, 25);
  assert.equal(publishers.others_rate_s, (24 * 25) / 2);
});

test("who neither sends nor reads is in no side", () => {
  const { publishers, subscribers } = flowOf([client("idle")], () => NO_RATE, 5);
  assert.equal(publishers.shown.length + subscribers.shown.length, 0);
});

test("a line is thicker with the rate, within bounds", () => {
  assert.equal(thickness(0), 1);
  assert.ok(thickness(10) < thickness(10_000));
  assert.equal(thickness(1e12), 6);
});
