// Requests in words, and the line of time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestsMessage } from "../src/model/contract.ts";
import { after, life, requestCells, requestsExtent, serviceCells, span } from "../src/model/request-wording.ts";
import { blank } from "./blank.ts";

const { requests, services, figures } = RequestsMessage.fields;
const ASKED = blank(requests.list, { topic: "solver/linear", asker: "gui", state: "stored", asked_ms: 1_000 });

test("a time has its significant digits", () => {
  assert.deepEqual([0.123, 35.4, 1_230, 180_000, null].map(span), ["0.12 ms", "35 ms", "1.2 s", "3 min", "–"]);
});

test("a request says who asked, who has it, and how long it took", () => {
  assert.deepEqual(requestCells({ ...ASKED, priority: "low" }, 4_500), [
    "solver/linear", "stored", "gui", "–", "low", "3 s", "–",
  ]);
  const ended = { ...ASKED, service: "a\u202eb", ended_ms: 1_040 };
  assert.deepEqual(requestCells(ended, 4_500).slice(3), ["a‹U+202E›b", "high", "3 s", "40 ms"]);
});

test("a service says how busy it is", () => {
  const service = blank(services.list, { client_id: "s", connected: true, busy: 2, limit: 4, answered: 7, p50_ms: 1.5 });
  assert.deepEqual(serviceCells(service), ["s", "connected", "2 of 4", "7", "0", "1.50 ms", "–"]);
});

test("all requests in one line", () => {
  const all = blank(figures, { open: 3, services: 1, room: 4, states: [{ state: "delivered", count: 2 }], p50_ms: 2, p99_ms: 20 });
  assert.equal(requestsExtent(all), "3 open · 1 service, 2 of 4 busy · answers p50 2.00 ms, p99 20 ms");
});

test("the life of an answered request ends with its answer", () => {
  const request = { ...ASKED, state: "answer delivered" as const, stored_ms: 1_001, delivered_ms: 3_001, ended_ms: 3_101, service: "s" };
  const steps = life(request, 9_000);
  assert.deepEqual(steps.map(({ phase }) => phase), ["asked", "stored", "delivered", "ended"]);
  assert.deepEqual(steps.map((_, index) => after(steps, index)), ["", "+1.00 ms", "+2.0 s", "+100 ms"]);
  assert.deepEqual(steps.map(({ lasts_ms }) => lasts_ms), [1, 2_000, 100, 0]);
});

test("a failure is told in the words of its service, legibly", () => {
  const request = { ...ASKED, state: "failed" as const, ended_ms: 1_500, reason: "the matrix is\n\u202esingular" };
  assert.equal(life(request, 9_000).at(-1)?.what, "failed: the matrix is‹U+000A›‹U+202E›singular");
});

test("an open request goes on until now, and then until it times out", () => {
  const steps = life({ ...ASKED, stored_ms: 1_000, times_out_ms: 11_000 }, 5_000);
  assert.deepEqual(steps.map(({ phase, lasts_ms }) => [phase, lasts_ms]), [["asked", 0], ["stored", 4_000], ["left", 6_000]]);
});

test("a request that came back from a service waits after it was delivered", () => {
  const steps = life({ ...ASKED, delivered_ms: 2_000, stored_ms: 3_000, times_out_ms: 9_000 }, 4_000);
  assert.deepEqual(steps.map(({ what }) => what), [
    "asked by gui", "delivered to a service that has gone", "stored: waits for a service", "now",
  ]);
});
