// Parameters as the page keeps and tells them: values in their type, qualities and limits in words, small lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveMessage, type ParameterDefinition, type ParameterSample, ParametersMessage } from "../src/model/contract.ts";
import { ParameterStore } from "../src/model/parameter-store.ts";
import { alarmOf, exactText, numberOf, numberText, valueText } from "../src/model/parameter-value.ts";
import { condition, extent, inflow, rateText } from "../src/model/parameter-wording.ts";
import { NotUnderstood, parse } from "../src/model/shape.ts";
import { sparkline } from "../src/model/sparkline.ts";
import { blank } from "./blank.ts";

const LIMITS = { low_critical: -10, low: 0, high: 100, high_critical: 200 };

function definition(changes: Partial<ParameterDefinition> = {}): ParameterDefinition {
  return blank(ParametersMessage.fields.definitions.orNull.list, { name: "engine/rpm", type: "f64", ...changes });
}

function sample(changes: Partial<ParameterSample> = {}): ParameterSample {
  return { index: 0, value: 1, time_ms: 1_000, received_ms: 1_000, quality: "good", why: null, ...changes };
}

function message(changes: object = {}): string {
  return JSON.stringify({
    at_ms: 1_000,
    search: "",
    sort: "name",
    first: 0,
    parameters: 1,
    matching: 1,
    problem: null,
    definitions: [definition()],
    values: [sample()],
    ...changes,
  });
}

const parsed = (source: string): ParametersMessage => parse(ParametersMessage, source);

test("a message about parameters is understood, and refused with the name of what is wrong", () => {
  const { definitions } = parsed(message({ definitions: [{ ...definition(), limits: LIMITS, range: [0, 9] }] }));
  assert.deepEqual(definitions?.[0]?.limits, LIMITS);
  assert.deepEqual(definitions?.[0]?.range, [0, 9]);
  assert.equal(parsed(message({ definitions: null })).definitions, null);
  assert.throws(() => parsed("["), NotUnderstood);
  assert.throws(() => parsed(message({ values: [{ ...sample(), value: [] }] })), /"value" is not/);
  assert.throws(() => parsed(message({ definitions: [{ ...definition(), range: [1] }] })), /"range"/);
});

test("a value is written in its type", () => {
  assert.equal(valueText("bool", true), "on");
  assert.equal(valueText("bool", false), "off");
  assert.equal(valueText("f64", 0.1 + 0.2), "0.3");
  assert.equal(valueText("f32", 12034.5), "12035");
  assert.equal(valueText("f32", 0.00012345678), "0.00012346");
  assert.equal(valueText("f64", 1_234_567.8), "1234568");
  assert.equal(valueText("f64", -3.5e20), "-3.5000e+20");
  assert.equal(valueText("u32", 4_294_967_295), "4294967295");
  assert.equal(valueText("u64", "18446744073709551615"), "18446744073709551615");
  assert.equal(valueText("enum", "failed"), "failed");
  assert.equal(valueText("text", ""), "‹empty›");
  assert.equal(valueText("bytes", "00ff"), "00ff");
  assert.equal(valueText("bytes", ""), "‹empty›");
});

test("two numbers that stand beside each other have the digits of the larger one", () => {
  assert.equal(numberText(0.0014196892734616995, 1), "0.0014");
  assert.equal(numberText(560.0115966796875, 560), "560.01");
  assert.equal(numberText(3829.290283203125, 3_800), "3829.3");
  assert.equal(numberText(-0.00000001, 40), "0");
  assert.equal(numberText(0), "0");
  assert.equal(numberText(1e-15), "1e-15");
});

test("a number with a range has as many decimals as the range asks, always the same", () => {
  assert.equal(valueText("f32", 12.345678, [0, 1_000]), "12.3");
  assert.equal(valueText("f32", 100, [0, 1_000]), "100.0");
  assert.equal(valueText("f64", 12034.56, [0, 20_000]), "12035");
  assert.equal(valueText("f64", 0.5, [-1, 1]), "0.500");
  assert.equal(valueText("f64", 1e9 / 3, [0, 1e9]), "333333333");
  assert.equal(valueText("f64", 0.25, [3, 3]), "0.25");
  assert.equal(valueText("u32", 7, [0, 10]), "7");
  assert.equal(valueText("u16", 7.25, [0, 65_535]), "7");
  assert.equal(valueText("f64", 14_997.99, [0, 16_500]), "14998");
  assert.equal(valueText("f32", 1.000987, [-6, 12]), "1.00");
  assert.equal(valueText("f32", -0.001, [-6, 12]), "0.00");
  assert.equal(valueText("f64", Number.POSITIVE_INFINITY), "Infinity");
  assert.equal(valueText("bool", 1), "on");
  assert.equal(exactText(0.1 + 0.2), "0.30000000000000004");
});

test("only numbers are numbers", () => {
  assert.equal(numberOf("text", "42"), null);
  assert.equal(numberOf("enum", "7"), null);
  assert.equal(numberOf("bytes", "12"), null);
  assert.equal(numberOf("bool", true), 1);
  assert.equal(numberOf("f64", "nan"), null);
  assert.equal(numberOf("f64", "-inf"), Number.NEGATIVE_INFINITY);
  assert.equal(numberOf("u64", "18446744073709551615"), 2 ** 64);
});

test("a limit is exceeded beyond it and not at it, and the worst one is told", () => {
  const limited = definition({ limits: LIMITS, unit: "°C" });
  const found = (value: number) => alarmOf(limited, value);
  assert.equal(found(100), null);
  assert.equal(found(0), null);
  assert.deepEqual(found(100.5), { level: "warning", why: "above the limit of 100 °C" });
  assert.deepEqual(found(-1), { level: "warning", why: "below the limit of 0 °C" });
  assert.deepEqual(found(201), { level: "critical", why: "above the critical limit of 200 °C" });
  assert.deepEqual(found(-11), { level: "critical", why: "below the critical limit of -10 °C" });
  assert.equal(alarmOf(definition(), 1e9), null);
  assert.equal(alarmOf(definition({ type: "text", limits: LIMITS }), "999"), null);
});

test("what is stale is said in words with since when, and before a limit", () => {
  const limited = definition({ limits: LIMITS });
  const gone = sample({ quality: "stale", why: "publisher-gone", value: 150 });
  assert.deepEqual(condition(limited, gone, 13_000), {
    severity: "stale",
    text: "stale: publisher gone 12 s ago; it was above the limit of 100",
  });
  const silent = sample({ quality: "stale", why: "silent" });
  assert.deepEqual(condition(limited, silent, 66_000), { severity: "stale", text: "stale: silent for 1 min 5 s" });
  const restored = sample({ quality: "stale", why: "restored" });
  assert.match(condition(limited, restored, 0).text, /before the restart/);
  assert.deepEqual(condition(limited, null, 0), { severity: "stale", text: "no value yet" });
});

test("quality and limits share the words", () => {
  const limited = definition({ limits: LIMITS });
  assert.deepEqual(condition(limited, sample(), 0), { severity: "good", text: "good" });
  const doubtful = sample({ quality: "bad", why: "sensor-failed" });
  assert.deepEqual(condition(limited, doubtful, 0), { severity: "doubtful", text: "bad: sensor failed" });
  const both = sample({ quality: "uncertain", why: "33", value: 300 });
  assert.deepEqual(condition(limited, both, 0), {
    severity: "critical",
    text: "above the critical limit of 200; uncertain: reason 33",
  });
});

test("how many match and exist is said", () => {
  const of = (parameters: number, matching: number) => parsed(message({ parameters, matching }));
  assert.equal(extent(of(3, 3)), "3");
  assert.equal(extent(of(20_000, 11)), "11 that match, of 20,000");
  assert.equal(extent(of(0, 0)), "");
  assert.equal(extent(null), "");
});

test("a rate is told as it was measured, else as it was declared", () => {
  assert.equal(rateText(50, null), "50 Hz");
  assert.equal(rateText(50, 49.96), "50 Hz");
  assert.equal(rateText(null, 0.254), "0.25 Hz");
  assert.equal(rateText(null, null), "–");
});

test("the inflow names what is refused only where something is", () => {
  const table = blank(LiveMessage.fields.table, { parameters: 2, stale: 1, frames_s: 50, samples_s: 1e6 });
  assert.equal(inflow(table), "1.00 M samples/s in 50 frames/s · 1 stale · 0 selections");
  assert.match(inflow({ ...table, refused: 7 }), /7 refused$/);
  assert.match(inflow({ ...table, selections: 1 }), / 1 selection$/);
});

test("rows are replaced by another search, and what stays keeps its line", () => {
  const store = new ParameterStore();
  const [a, b] = [definition({ name: "a" }), definition({ name: "b", index: 1 })];
  store.receive(parsed(message({ definitions: [a, b] })));
  const revision = store.revision;
  store.receive(parsed(message({ definitions: null, values: [sample({ received_ms: 1_250 })] })));
  assert.equal(store.revision, revision);
  assert.equal(store.rows[0]?.history.length, 2);
  store.receive(parsed(message({ definitions: [a], values: [] })));
  assert.deepEqual(store.rows.map(({ topic }) => topic), ["a"]);
  assert.equal(store.rows[0]?.history.length, 2);
  const other = definition({ name: "a", index: 7 });
  store.receive(parsed(message({ definitions: [other], values: [] })));
  assert.equal(store.rows[0]?.history.length, 0);
  assert.equal(store.rows[0]?.newest, null);
});

test("a sample that only became stale adds nothing to the line, and an unknown index is passed over", () => {
  const store = new ParameterStore();
  store.receive(parsed(message()));
  const stale = sample({ quality: "stale", why: "silent", time_ms: 2_000 });
  store.receive(parsed(message({ definitions: null, values: [stale, sample({ index: 99 })] })));
  assert.equal(store.rows[0]?.history.length, 1);
  assert.equal(store.rows[0]?.newest?.quality, "stale");
});

test("a time without messages is a gap in the line", () => {
  const store = new ParameterStore();
  for (const at_ms of [1_000, 1_250, 9_000]) {
    store.receive(parsed(message({ at_ms, values: [sample({ received_ms: at_ms - 1 })] })));
  }
  assert.deepEqual([...(store.rows[0]?.history.series().values ?? [])], [1, 1, Number.NaN, 1]);
});

test("a row that leaves the view has a gap in its line, one that stays has none", () => {
  const store = new ParameterStore();
  const both = [definition(), definition({ index: 1, name: "engine/torque" })];
  const at = (at_ms: number, first: number, definitions: ParameterDefinition[] | null) => {
    const values = [0, 1].map((index) => sample({ index, received_ms: at_ms }));
    store.receive(parsed(message({ at_ms, first, matching: 2, definitions, values })));
  };
  at(1_000, 0, both);
  at(1_250, 0, both.slice(0, 1));
  at(1_500, 0, both);
  const lines = store.rows.map(({ history }) => [...history.series().values]);
  assert.deepEqual(lines, [
    [1, 1, 1],
    [1, Number.NaN, 1],
  ]);
});

test("rows are known by their place among all, and others are not here yet", () => {
  const store = new ParameterStore();
  const rows = [7, 8].map((index) => definition({ index, name: `p/${index}` }));
  store.receive(parsed(message({ first: 7, matching: 20_000, definitions: rows, values: [] })));
  assert.equal(store.total, 20_000);
  assert.equal(store.at(8)?.topic, "p/8");
  assert.equal(store.at(6), null);
  assert.deepEqual([store.rowOf("p/7"), store.rowOf("p/9")], [7, -1]);
});

test("a page whose table is off the screen keeps its rows", () => {
  const store = new ParameterStore();
  store.receive(parsed(message()));
  store.receive(parsed(message({ definitions: [], values: [], matching: 1 })));
  assert.deepEqual(store.rows.map(({ topic }) => topic), ["engine/rpm"]);
  store.receive(parsed(message({ definitions: [], values: [], matching: 0 })));
  assert.deepEqual(store.rows, []);
});

test("the past comes before what was seen since, and lines of long ago are forgotten", () => {
  const store = new ParameterStore();
  store.receive(parsed(message({ values: [sample({ received_ms: 1_000, value: 5 })] })));
  const past = { times: Float64Array.of(500, 900), values: Float64Array.of(3, 4) };
  store.fill("engine/rpm", past, 2);
  const record = store.at(0);
  assert.deepEqual([...(record?.history.series().values ?? [])], [3, 4, 5]);
  assert.deepEqual([record?.is_filled, record?.measured_hz], [true, 2]);
  for (let first = 0; first < 1_000; first += 100) {
    const rows = Array.from({ length: 100 }, (_, at) => definition({ index: first + at, name: `p/${first + at}` }));
    store.receive(parsed(message({ first, matching: 1_000, definitions: rows, values: [] })));
  }
  assert.equal(store.get("engine/rpm"), null);
  assert.ok(store.get("p/999") && store.get("p/500") && !store.get("p/100"));
});

test("a line fills its box, leaves gaps, and forgets what is older than its span", () => {
  const box = { width: 100, height: 22 };
  const line = (times: number[], values: number[]) =>
    sparkline({ times: Float64Array.from(times), values: Float64Array.from(values) }, 1_000, 1_000, box);
  assert.equal(line([0, 500, 1_000], [0, 10, 5]), "M0.0 21.0L50.0 1.0L100.0 11.0");
  assert.equal(line([0, 500, 1_000], [0, Number.NaN, 10]), "M0.0 21.0M100.0 1.0");
  assert.equal(line([-900, -500], [1, 2]), "");
  assert.equal(line([500], [7]), "M50.0 11.0");
  assert.equal(line([], []), "");
});
