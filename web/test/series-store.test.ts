// The store of samples: what it fetches, how past and present become one line, and that it does not grow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HistoryAnswer, type HistoryPage, readHistory } from "../src/model/history-answer.ts";
import { RING_ENTRIES } from "../src/model/sample-ring.ts";
import { isoTimeNs } from "../src/model/series-csv.ts";
import { type HistoryRequest, type SeriesFeed, SeriesStore } from "../src/model/series-store.ts";
import type { TimeMode } from "../src/model/time-control.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Asked {
  request: HistoryRequest;
  signal: AbortSignal;
  answer: (answer: HistoryAnswer) => void;
  fail: (error: Error) => void;
}

class FakeFeed implements SeriesFeed {
  readonly asked: Asked[] = [];
  readonly listened: { names: readonly string[]; step_ms: number }[] = [];

  history(request: HistoryRequest, signal: AbortSignal): Promise<HistoryAnswer> {
    return new Promise((answer, fail) => this.asked.push({ request, signal, answer, fail }));
  }

  listen(names: readonly string[], step_ms: number): void {
    this.listened.push({ names, step_ms });
  }
}

function page(from_ms: number, to_ms: number, step_ms: number, value = 1): HistoryPage {
  const count = Math.floor((to_ms - from_ms) / step_ms);
  const times = Float64Array.from({ length: count }, (_, at) => from_ms + at * step_ms);
  const last = new Float64Array(count).fill(value);
  return { from_ms, to_ms, step_ms, times, min: last, max: last, last, texts: null, exact: null, unit: "m", type: "f64", origin: "journal", is_cut: false };
}

function answerWith(one: HistoryPage, name = "a"): HistoryAnswer {
  return { pages: new Map([[name, one]]), oldest_ms: 0 };
}

function view(mode: TimeMode, to_ms: number, span_ms: number, live_ms = to_ms, speed = 1) {
  return { mode, from_ms: to_ms - span_ms, to_ms, speed, live_ms };
}

function samples(at_ms: number, name: string, times: number[], values: number[]): string {
  return JSON.stringify({ at_ms, step_ms: 0, series: [{ name, t: times, min: values, max: values, last: values }] });
}

async function settled(): Promise<void> {
  await new Promise((done) => setImmediate(done));
}

function started(names = ["a"], width = 100): { store: SeriesStore; feed: FakeFeed } {
  const feed = new FakeFeed();
  const store = new SeriesStore(feed, () => undefined);
  store.want({}, names, width);
  return { store, feed };
}

test("a live view asks for its past once, and for the present in steps of the screen", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 5_000), 0);
  assert.equal(feed.asked.length, 1);
  assert.deepEqual(feed.asked[0]!.request.names, ["a"]);
  assert.equal(feed.asked[0]!.request.from_ms, live_ms - 5_000);
  assert.deepEqual(feed.listened, [{ names: ["a"], step_ms: 50 }]);
  feed.asked[0]!.answer(answerWith(page(live_ms - 5_000, live_ms, 50)));
  await settled();
  store.receive(samples(live_ms + 50, "a", [live_ms + 20], [2]), true);
  for (let passed = 0; passed < 2_000; passed += 16) store.follow(view("live", live_ms + passed, 5_000), passed);
  assert.equal(feed.asked.length, 1);
  assert.equal(feed.listened.length, 1);
});

test("past and present are one line, ascending and without a time twice", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 5_000), 0);
  feed.asked[0]!.answer(answerWith(page(live_ms - 5_000, live_ms, 50)));
  await settled();
  store.receive(samples(live_ms + 100, "a", [live_ms - 120, live_ms - 20, live_ms + 80], [7, 8, 9]), true);
  store.follow(view("live", live_ms + 100, 5_000), 100);
  const slice = store.slice("a");
  for (let at = 1; at < slice.length; at += 1) assert.ok(slice.times[at]! > slice.times[at - 1]!);
  assert.equal(slice.last[slice.length - 1], 9);
  assert.equal(store.valueAt("a", live_ms + 99), 9);
  assert.equal(store.valueAt("a", live_ms - 3_000), 1);
  assert.ok(Number.isNaN(store.valueAt("a", live_ms - 6_000)));
});

test("twelve hours of messages leave the store as large as the first minutes did", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `p/${at}`);
  const { store, feed } = started(names, 800);
  let live_ms = 100 * HOUR;
  store.follow(view("live", live_ms, 5 * MINUTE), 0);
  const pages = new Map(names.map((name) => [name, page(live_ms - 5 * MINUTE, live_ms, 500)]));
  feed.asked[0]!.answer({ pages, oldest_ms: 0 });
  await settled();
  const play = (until_ms: number) => {
    for (; live_ms < until_ms; live_ms += 100) {
      const series = names.map((name) => ({ name, t: [live_ms], min: [0], max: [2], last: [1] }));
      store.receive(JSON.stringify({ at_ms: live_ms, step_ms: 100, series }), false);
      if (live_ms % 1_000 === 0) store.follow(view("live", live_ms, 5 * MINUTE), live_ms);
    }
    for (const name of names) store.slice(name);
  };
  play(100 * HOUR + 10 * MINUTE);
  const early = store.bytes;
  play(112 * HOUR);
  assert.equal(store.bytes, early);
  assert.ok(early <= names.length * (RING_ENTRIES * 32 + 4_000 * 32 + 8_192 * 32));
  assert.ok(store.slice("p/0").length >= 800);
  assert.equal(feed.asked.length, 1);
});

test("a pause shows what was there, listens to nothing, and new samples do not move it", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 5_000), 0);
  feed.asked[0]!.answer(answerWith(page(live_ms - 5_000, live_ms, 50)));
  await settled();
  store.follow(view("paused", live_ms, 5_000, live_ms + 500), 500);
  assert.deepEqual(feed.listened.at(-1)!.names, []);
  const before = store.slice("a").length;
  assert.ok(before >= 99);
  store.follow(view("paused", live_ms, 5_000, live_ms + 60_000), 60_500);
  assert.equal(store.slice("a").length, before);
});

test("zooming in asks for finer steps after the view has settled, and shows the coarse ones meanwhile", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("paused", 5 * HOUR, 100 * MINUTE, live_ms), 0);
  feed.asked[0]!.answer(answerWith(page(feed.asked[0]!.request.from_ms, feed.asked[0]!.request.to_ms, 60_000)));
  await settled();
  store.follow(view("paused", 5 * HOUR, 100 * MINUTE, live_ms), 10);
  assert.equal(feed.asked.length, 2, "the fine page after the coarse one");
  feed.asked[1]!.answer(answerWith(page(feed.asked[1]!.request.from_ms, feed.asked[1]!.request.to_ms, 30_000)));
  await settled();
  store.follow(view("paused", 5 * HOUR, 10 * MINUTE, live_ms), 1_000);
  store.follow(view("paused", 5 * HOUR, MINUTE, live_ms), 1_050);
  assert.equal(feed.asked.length, 2, "not while it moves");
  assert.ok(store.slice("a").length > 0, "what is there is shown");
  store.follow(view("paused", 5 * HOUR, MINUTE, live_ms), 1_300);
  assert.equal(feed.asked.length, 3);
  const { request } = feed.asked[2]!;
  assert.ok((request.to_ms - request.from_ms) / request.width <= MINUTE / 100);
  feed.asked[2]!.answer(answerWith(page(request.from_ms, request.to_ms, 500)));
  await settled();
  assert.equal(store.slice("a").step_ms, 500, "the coarse page only leads there");
});

test("a request that is of no use any more is cancelled", async () => {
  const { store, feed } = started();
  store.follow(view("paused", 5 * HOUR, MINUTE, 10 * HOUR), 0);
  store.follow(view("paused", 2 * HOUR, MINUTE, 10 * HOUR), 100);
  assert.equal(feed.asked[0]!.signal.aborted, true);
  store.follow(view("paused", 2 * HOUR, MINUTE, 10 * HOUR), 300);
  assert.equal(feed.asked.length, 2);
  feed.asked[0]!.answer(answerWith(page(5 * HOUR - MINUTE, 5 * HOUR, 100)));
  await settled();
  assert.equal(store.slice("a").length, 0, "its answer is not shown");
});

test("a replay has its future before it is reached", async () => {
  const { store, feed } = started();
  const live_ms = 100 * HOUR;
  let to_ms = 50 * HOUR;
  let local_ms = 0;
  for (; local_ms < 20_000; local_ms += 50, to_ms += 500) {
    store.follow(view("replay", to_ms, MINUTE, live_ms + local_ms, 10), local_ms);
    const open = feed.asked.at(-1)!;
    if (feed.asked.length > 0) open.answer(answerWith(page(open.request.from_ms, open.request.to_ms, 500)));
    await settled();
    const slice = store.slice("a");
    if (local_ms > 100) assert.ok(slice.times[slice.length - 1]! > to_ms - 1_000, `at ${local_ms}`);
  }
  assert.ok(feed.asked.length > 2 && feed.asked.length < 30, `${feed.asked.length} requests`);
});

test("a broker that does not answer is asked again, later, and the trouble is said", async () => {
  const { store, feed } = started();
  store.follow(view("live", 10 * HOUR, 5_000), 0);
  feed.asked[0]!.fail(new Error("so many questions"));
  await settled();
  assert.equal(store.trouble, "so many questions");
  store.follow(view("live", 10 * HOUR, 5_000), 100);
  assert.equal(feed.asked.length, 1);
  store.follow(view("live", 10 * HOUR, 5_000), 2_100);
  assert.equal(feed.asked.length, 2);
  feed.asked[1]!.answer(answerWith(page(10 * HOUR - 5_000, 10 * HOUR, 50)));
  await settled();
  assert.equal(store.trouble, null);
});

test("a connection that begins anew heals the hole from the history", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 60_000), 0);
  feed.asked[0]!.answer(answerWith(page(live_ms - 60_000, live_ms, 500)));
  await settled();
  store.receive(samples(live_ms + 100, "a", [live_ms + 50], [1]), true);
  store.receive(samples(live_ms + 20_100, "a", [live_ms + 20_050], [1]), true);
  store.follow(view("live", live_ms + 20_200, 60_000), 20_200);
  assert.equal(feed.asked.length, 2);
});

test("after a pause, live shows what came meanwhile", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 60_000), 0);
  feed.asked[0]!.answer(answerWith(page(live_ms - 60_000, live_ms, 500)));
  await settled();
  store.receive(samples(live_ms + 100, "a", [live_ms + 50], [1]), true);
  store.follow(view("paused", live_ms + 100, 60_000), 100);
  feed.asked.at(-1)!.answer(answerWith(page(live_ms - 60_000, live_ms + 100, 500)));
  await settled();
  store.follow(view("live", live_ms + 30_000, 60_000), 30_000);
  const { request } = feed.asked.at(-1)!;
  feed.asked.at(-1)!.answer(answerWith(page(request.from_ms, request.to_ms, 500, 77)));
  await settled();
  store.receive(samples(live_ms + 30_200, "a", [], []), true);
  store.follow(view("live", live_ms + 30_300, 60_000), 30_300);
  assert.equal(store.valueAt("a", live_ms + 30_300), 77);
});

test("a page that is cut is asked for again, less and less often", async () => {
  const { store, feed } = started();
  for (let local_ms = 0; local_ms < 20_000; local_ms += 100) {
    store.follow(view("paused", 5 * HOUR, MINUTE, 10 * HOUR), local_ms);
    const { request, answer } = feed.asked.at(-1)!;
    answer(answerWith({ ...page(request.from_ms, request.to_ms, 100), is_cut: true }));
    await settled();
  }
  assert.ok(feed.asked.length >= 4 && feed.asked.length <= 6, `${feed.asked.length}`);
  assert.equal(store.state("a").is_cut, true);
});

test("what the broker tells later about the last second is merged into it", async () => {
  const { store, feed } = started();
  const live_ms = 10 * HOUR;
  store.follow(view("live", live_ms, 10_000), 0);
  feed.asked[0]!.answer(answerWith(page(live_ms - 10_000, live_ms, 100)));
  await settled();
  store.receive(samples(live_ms + 500, "a", [live_ms + 100, live_ms + 300, live_ms + 500], [1, 1, 1]), true);
  store.receive(samples(live_ms + 600, "a", [live_ms + 200, live_ms + 300], [50, -50]), false);
  store.follow(view("live", live_ms + 600, 10_000), 600);
  const slice = store.slice("a");
  assert.equal(Math.max(...slice.max.subarray(0, slice.length)), 50);
  assert.equal(Math.min(...slice.min.subarray(0, slice.length)), -50);
  for (let at = 1; at < slice.length; at += 1) assert.ok(slice.times[at]! > slice.times[at - 1]!);
});

test("what nobody wants is forgotten, and its name is not asked for any more", () => {
  const { store, feed } = started([]);
  const owner = {};
  store.want(owner, ["x", "y"], 100);
  store.follow(view("live", 10 * HOUR, 5_000), 0);
  store.want(owner, ["y"], 100);
  store.follow(view("live", 10 * HOUR, 5_000), 10);
  assert.deepEqual(feed.listened.at(-1)!.names, ["y"]);
  store.release(owner);
  store.follow(view("live", 10 * HOUR, 5_000), 20);
  assert.deepEqual(feed.listened.at(-1)!.names, []);
  assert.equal(store.bytes, 0);
});

test("single samples have their times to the nanosecond, and what is no time is none", async () => {
  const begin_ns = 1_795_000_000_000_000_001n;
  const times = [1_795_000_000_000, 1_795_000_000_000.5];
  const told = (changes: object) => JSON.stringify({
    from_ms: times[0], to_ms: times[0]! + 1, oldest_ms: 0,
    series: [{ name: "a", unit: "", type: "f64", origin: "lake", step_ms: 0, t: times, min: [], max: [], last: [1, 2], is_cut: false, first_ns: String(begin_ns), after_ns: [0, 500_123], ...changes }],
  });
  const { store, feed } = started();
  store.follow(view("paused", times[0]! + 1, 1, 10 * HOUR + times[0]!), 0);
  feed.asked[0]!.answer(readHistory(told({})));
  await settled();
  assert.equal(store.exactAt("a", times[0]! + 0.9), begin_ns + 500_123n);
  assert.equal(store.exactAt("a", times[0]! - 1), null);
  assert.equal(isoTimeNs(begin_ns + 500_123n), "2026-11-18T11:06:40.000500124Z");
  for (const wrong of [{ first_ns: "x" }, { after_ns: [0] }, { after_ns: [0, null] }, { after_ns: [0, 0.5] }]) assert.equal(readHistory(told(wrong)).pages.get("a")!.exact, null);
});

test("words of an enumeration are texts, and buckets end where their last value was", () => {
  const text = JSON.stringify({
    from_ms: 0, to_ms: 1_000, oldest_ms: null,
    series: [
      { name: "mode", unit: null, type: "enum", origin: "table", step_ms: 0, t: [1, 2], min: [], max: [], last: ["off", "on"], is_cut: false },
      { name: "rpm", unit: "1/min", type: "f64", origin: "lake", step_ms: 100, t: [0, 100], min: [1, null], max: [3, null], last: [2, null], is_cut: true },
    ],
  });
  const { pages } = readHistory(text);
  assert.deepEqual(pages.get("mode")!.texts, ["off", "on"]);
  assert.ok(Number.isNaN(pages.get("mode")!.last[0]!));
  assert.deepEqual([...pages.get("rpm")!.times], [99.99, 199.99]);
  assert.ok(Number.isNaN(pages.get("rpm")!.max[1]!));
  assert.equal(pages.get("rpm")!.is_cut, true);
  assert.throws(() => readHistory('{"from_ms":0,"to_ms":1,"series":[{"name":"x","t":[1],"last":[],"step_ms":0}]}'), /another length/);
});

test("a replay up to now, at any speed, asks at most a few times a second", async () => {
  for (const speed of [0.1, 1, 10, 100]) {
    const { store, feed } = started();
    const live_ms = 10 * HOUR;
    const began_ms = live_ms - 300 - Math.max(0, speed - 1) * 7_000;
    for (let local_ms = 0; local_ms < 10_000; local_ms += 33) {
      const to_ms = Math.min(began_ms + local_ms * speed, live_ms + local_ms - 1);
      store.follow(view("replay", to_ms, 5 * MINUTE, live_ms + local_ms, speed), local_ms);
      for (const { request, answer } of feed.asked.slice(-1)) answer(answerWith(page(request.from_ms, request.to_ms, 1_000)));
      await settled();
      assert.ok(store.slice("a").length > 0, "the past is there");
    }
    assert.ok(feed.asked.length <= 25, `${feed.asked.length} questions in 10 s at ${speed}`);
  }
});
