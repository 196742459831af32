// Rates of clients from counts, who is slow, and who is shown in the picture of the flow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientRates, NO_RATE, slowness } from "../src/model/client-rates.ts";
import { type ConsumerStatus, LiveMessage } from "../src/model/contract.ts";
import { consumerWords, publisherWords, subscriberWords } from "../src/model/flow-wording.ts";
import { flowOf, thickness } from "../src/model/flow.ts";
import { blank } from "./blank.ts";

const CLIENT = blank(LiveMessage.fields.clients.list);
const CONSUMER: ConsumerStatus = { name: "", offset: 0, behind: 0, lag_s: 0, messages_s: 0, updated_ms: 0, rows: [], flaw: null };

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
  assert.equal(publishers.others_bytes_s, 0);
});

test("who neither sends nor reads is in no side", () => {
  const { publishers, subscribers } = flowOf([client("idle")], () => NO_RATE, 5);
  assert.equal(publishers.shown.length + subscribers.shown.length, 0);
});

test("who sends a million samples in few messages comes before who sends many small ones", () => {
  const clients = [client("small", { messages_in: 9 }), client("jet", { messages_in: 9 })];
  const rates = { small: { ...NO_RATE, in_s: 900, bytes_in_s: 9_000 }, jet: { ...NO_RATE, in_s: 44, samples_in_s: 1e6, bytes_in_s: 3e6 } };
  const { publishers } = flowOf(clients, (id) => rates[id as keyof typeof rates], 5);
  assert.deepEqual(publishers.shown.map(({ client_id }) => client_id), ["jet", "small"]);
  assert.deepEqual(publisherWords(publishers.shown[0]!).lines, ["1.00 M samples/s", "44 messages/s, 3.0 MB/s"]);
  assert.deepEqual(publisherWords(publishers.shown[1]!).lines, ["900 messages/s, 9.0 kB/s"]);
});

test("a subscriber's queue is told in messages and bytes, or as empty", () => {
  const { subscribers } = flowOf([client("a", { subscriptions: ["#"], queued_messages: 1, queued_bytes: 2_500 }), client("b", { subscriptions: ["#"] })], () => NO_RATE, 5);
  assert.deepEqual(subscribers.shown.map((end) => subscriberWords(end).lines[1]), ["queue: 1 message, 2.5 kB", "queue: empty"]);
});

test("a reader of the journal is told with its rows and how far behind it is, or with what is wrong", () => {
  const lake = { ...CONSUMER, name: "lake", messages_s: 78.3, lag_s: 2.4, rows: [{ table: "samples", rows: 9, rows_s: 972_484, last_rows: 9 }] };
  assert.deepEqual(consumerWords(lake).lines, ["972,484 rows/s from 78.3 messages/s", "2.4 s behind"]);
  assert.equal(consumerWords({ ...lake, flaw: "another journal" }).wrong, "another journal");
});

test("a line is thicker with the bytes, within bounds", () => {
  assert.equal(thickness(0), 1);
  assert.ok(thickness(10_000) < thickness(1_000_000));
  assert.equal(thickness(1e12), 6);
});
