// The past of rows and of one parameter: in few requests, and as numbers and words that are right.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ParameterDefinition, ParameterMessage, ParametersMessage } from "../src/model/contract.ts";
import { nameQueries } from "../src/model/name-batches.ts";
import { definitionFacts, peopleFacts, statisticsFacts } from "../src/model/parameter-facts.ts";
import { ParameterStore } from "../src/model/parameter-store.ts";
import { RowsPast } from "../src/model/rows-past.ts";
import { statistics } from "../src/model/statistics.ts";
import { TimeControl } from "../src/model/time-control.ts";
import { blank } from "./blank.ts";

function definition(changes: Partial<ParameterDefinition> = {}): ParameterDefinition {
  return blank(ParametersMessage.fields.definitions.orNull.list, { name: "jet/rpm", type: "f64", ...changes });
}

test("names go in few requests, and no address is too long", () => {
  const names = Array.from({ length: 50 }, (_, at) => `p/${at}`);
  assert.deepEqual(nameQueries(names, 24).map((one) => one.names.length), [24, 24, 2]);
  const long = Array.from({ length: 10 }, () => "ä".repeat(500));
  const queries = nameQueries(long, 24);
  assert.ok(queries.every(({ query }) => query.length < 8_100));
  assert.equal(queries.flatMap((one) => one.names).length, 10);
  assert.equal(nameQueries(["a&b=c"], 1)[0]?.query, "name=a%26b%3Dc");
});

test("statistics leave gaps out, and count samples only where they are single", () => {
  const values = [1, Number.NaN, 3];
  const single = statistics({ times: [0, 500, 1_000], min: values, max: values, last: values, step_ms: 0 });
  assert.deepEqual(single, { min: 1, max: 3, mean: 2, last: 3, count: 2, rate_hz: 1 });
  const parts = statistics({ times: [0, 1_000], min: [0, 2], max: [4, 4], last: [1, 3], step_ms: 1_000 });
  assert.deepEqual(parts, { min: 0, max: 4, mean: 2.5, last: 3, count: 2, rate_hz: null });
  assert.equal(statistics({ times: [], min: [], max: [], last: [], step_ms: 0 }), null);
});

test("statistics are told with unit and rounding", () => {
  const found = { min: 1, max: 3, mean: 2, last: 3, count: 2_000, rate_hz: 49.99 };
  const facts = Object.fromEntries(statisticsFacts(definition({ unit: "kPa", range: [0, 1_000] }), found, 0, null));
  assert.deepEqual(facts, { Lowest: "1.0 kPa", Highest: "3.0 kPa", Mean: "2.0 kPa", Last: "3.0 kPa", Samples: "2,000", Rate: "50 Hz" });
  const parts = statisticsFacts(definition(), { ...found, rate_hz: null, count: 1 }, 250, 10);
  assert.deepEqual(parts.slice(-2), [["Samples", "in 1 part of 0.25 s"], ["Rate", "10 Hz"]]);
  assert.match(statisticsFacts(definition(), null, 0, null)[0]?.[1] ?? "", /none/);
});

test("a definition is told with what it says, and who has it to whom may know", () => {
  const told = blank(ParameterMessage, {
    definition: definition({ unit: "1/min", limits: { low_critical: null, low: null, high: 18_000, high_critical: null } }),
    labels: ["off", "run"],
    publishers: [{ client_id: "jet\u202e", connected: false }],
    selections: [{ client_id: "plot", connected: true, filter: "jet/#", rate_hz: 10 }],
    selections_total: 3,
  });
  const facts = Object.fromEntries(definitionFacts(told));
  assert.equal(facts["Type"], "f64: off, run");
  assert.equal(facts["Limits"], "high 18000");
  assert.ok(!("Description" in facts));
  const people = Object.fromEntries(peopleFacts(told, true));
  assert.equal(people["Published by"], "jet‹U+202E› (away)");
  assert.equal(people["Selected by"], "plot: jet/#, at 10 Hz\nand 2 more");
  assert.equal(people["Subscribed to by"], "nobody");
  assert.match(peopleFacts(told, false)[0]?.[1] ?? "", /right to watch everything/);
});

/** What the broker would answer, by the beginning of the address. */
function answers(asked: string[]): (path: string) => Promise<string> {
  return async (path) => {
    asked.push(path);
    const values = [{ name: "jet/rpm", value: 7, time_ms: 900, quality: "good" }];
    if (path.startsWith("api/values")) return JSON.stringify({ at_ms: 1_000, values });
    const series = [{ name: "jet/rpm", unit: "", type: "f64", origin: "table", step_ms: 0, t: [800, 900], min: [], max: [], last: [6, 7] }];
    return JSON.stringify({ from_ms: 0, to_ms: 1_000, series, oldest_ms: 0 });
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

test("a row that comes into view is filled with its last minute, once", async () => {
  const store = new ParameterStore();
  const message = { search: "", sort: "name", first: 0, parameters: 1, matching: 1, problem: null };
  store.receive({ ...message, at_ms: 1_000, definitions: [definition()], values: [] });
  const asked: string[] = [];
  const past = new RowsPast(store, answers(asked), () => {});
  const time = new TimeControl();
  past.follow(store.rows, time, 1_000, 0);
  assert.deepEqual(asked, [], "a view that still moves is not asked for");
  past.follow(store.rows, time, 1_000, 200);
  await settled();
  past.follow(store.rows, time, 1_000, 400);
  await settled();
  assert.equal(asked.length, 1);
  assert.deepEqual([...(store.at(0)?.history.series().values ?? [])], [6, 7]);
});

test("while an earlier time is shown, its values are, and not those of now", async () => {
  const store = new ParameterStore();
  const message = { search: "", sort: "name", first: 0, parameters: 1, matching: 1, problem: null };
  store.receive({ ...message, at_ms: 1_000, definitions: [definition()], values: [] });
  const record = store.rows[0];
  assert.ok(record);
  const asked: string[] = [];
  const past = new RowsPast(store, answers(asked), () => {});
  const time = new TimeControl();
  time.pause(1_000);
  for (const local_ms of [0, 200, 400, 2_000]) {
    past.follow(store.rows, time, 5_000, local_ms);
    await settled();
  }
  assert.equal(asked.length, 2, "once for what stands still");
  assert.match(asked[0] ?? "", /^api\/values\?name=jet%2Frpm&at_ms=1000$/);
  assert.equal(past.sampleOf(record, time)?.value, 7);
  assert.deepEqual([...past.lineOf(record, time).values], [6, 7]);
  time.seek(500, 5_000);
  past.follow(store.rows, time, 5_000, 2_010);
  assert.equal(past.sampleOf(record, time), null, "what came later is no value of an earlier time");
  time.seek(3_000, 5_000);
  past.follow(store.rows, time, 5_000, 2_020);
  assert.equal(past.sampleOf(record, time), null, "there may be a newer value, which nobody has asked for");
  time.goLive();
  assert.equal(past.sampleOf(record, time), null);
});
