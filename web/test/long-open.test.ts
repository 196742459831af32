// A page that is left open for twelve hours: what its stores keep does not grow, whatever comes and goes meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AlarmStore } from "../src/model/alarm-store.ts";
import { ConsoleState } from "../src/model/console-state.ts";
import { type AlarmSummary, LiveMessage, type ParameterDefinition, ParametersMessage } from "../src/model/contract.ts";
import { DefinitionStore } from "../src/model/definition-store.ts";
import { NewestValues } from "../src/model/newest-values.ts";
import { ParameterStore } from "../src/model/parameter-store.ts";
import { RowsPast } from "../src/model/rows-past.ts";
import { SeriesStore } from "../src/model/series-store.ts";
import { TimeControl } from "../src/model/time-control.ts";
import { blank } from "./blank.ts";

const HOUR = 3_600_000;
const STEP_MS = 1_000;
const NAMES = Array.from({ length: 12 }, (_, at) => `jet/${at}`);
/** The alarms of these hours alone would be four times as much. */
const GROWTH_MAX = 500_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What a collection frees is counted only some turns later. */
async function kept(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

/** Everything that a page keeps, and a broker that always has something new for it. */
class OpenPage {
  readonly state = new ConsoleState();
  readonly rows = new ParameterStore();
  readonly time = new TimeControl();
  readonly definitions = new DefinitionStore(async (search) => [definition(search.replace("/#", ""))], () => undefined);
  readonly newest = new NewestValues(async (names, at_ms) => names.map((name) => ({ name, value: 1, time_ms: at_ms ?? this.now_ms, quality: "good" })), () => undefined);
  readonly alarms = new AlarmStore(async () => this.#alarmsAnswer(), () => undefined);
  readonly past = new RowsPast(this.rows, async (path) => this.#answer(path), () => undefined);
  readonly series = new SeriesStore({ history: async () => ({ pages: new Map(), oldest_ms: 0 }), listen: () => undefined }, () => undefined);
  now_ms = 1_000 * HOUR;
  #messages = 0;

  constructor() {
    this.series.want(this, NAMES, 800);
    this.newest.want(this, NAMES);
  }

  /** A second of live messages; other topics, clients, events and alarms each minute. */
  step(): void {
    this.now_ms += STEP_MS;
    this.#messages += 1;
    const at_ms = this.now_ms;
    const minute = Math.floor(this.#messages / 60);
    const local_ms = this.#messages * STEP_MS;
    const { values, events, clients } = LiveMessage.fields;
    this.state.receive(blank(LiveMessage, {
      at_ms,
      topics_total: 9_000,
      values: [blank(values.list, { topic: `topic/${minute % 90}`, text: "1", at_ms, count: this.#messages })],
      events: [blank(events.list, { at_ms, text: `event ${this.#messages}` })],
      clients: [blank(clients.list, { id: `client-${minute}` })],
    }), this.#messages === 1, local_ms);
    this.rows.receive({
      ...blank(ParametersMessage, { at_ms, search: "", sort: "name", parameters: 20_000, matching: 20_000 }),
      definitions: this.#messages % 60 === 1 ? NAMES.map((name, index) => definition(`${name}/${minute}`, index)) : null,
      values: NAMES.map((_, index) => ({ index, value: 1, time_ms: at_ms, received_ms: at_ms, quality: "good", why: null })),
    });
    this.series.receive(JSON.stringify({ at_ms, step_ms: 100, series: NAMES.map((name) => ({ name, t: [at_ms], last: [1] })) }), this.#messages === 1);
    this.#look(minute, local_ms);
  }

  /** What the page asks for by itself; an hour of each three is a replay. */
  #look(minute: number, local_ms: number): void {
    const isReplay = Math.floor(minute / 60) % 3 === 2;
    if (isReplay !== (this.time.mode === "replay")) {
      if (!isReplay) this.time.goLive();
      else {
        this.time.seek(this.now_ms - 2 * HOUR, this.now_ms);
        this.time.play(1, this.now_ms);
      }
    }
    const { mode, speed } = this.time;
    this.series.follow({ ...this.time.window(this.now_ms), mode, speed, live_ms: this.now_ms }, local_ms);
    for (const name of NAMES) this.series.slice(name);
    this.definitions.get(`other/${this.#messages % 500}`);
    this.newest.follow(mode, this.time.shown(this.now_ms), local_ms);
    this.past.follow(this.rows.rows, this.time, this.now_ms, local_ms);
    this.alarms.follow({ ...ALARMS, revision: minute }, local_ms);
  }

  #alarmsAnswer(): string {
    const revision = Math.floor(this.#messages / 60);
    const alarms = NAMES.map((parameter, at) => ({ ...ALARM, id: String(revision * 100 + at), parameter }));
    return JSON.stringify({ revision, total: alarms.length, alarms });
  }

  #answer(path: string): string {
    if (path.startsWith("api/values")) return JSON.stringify({ at_ms: 0, values: [] });
    return JSON.stringify({ from_ms: 0, to_ms: 1, oldest_ms: 0, series: [] });
  }
}

const ALARMS: AlarmSummary = { revision: 0, active: 1, unacknowledged: 1, critical: 1, shelved: 0 };
const ALARM = {
  id: "1", parameter: "jet/egt", limit: "high", level: "warning", state: "active", value: 1, threshold: 1, unit: "Cel", since_ms: 1, began_ms: 1, ended_ms: null,
  times: 1, acknowledged_by: null, acknowledged_ms: null, shelved_by: null, shelved_until_ms: null, comments: [],
};

function definition(name: string, index = 0): ParameterDefinition {
  return blank(ParametersMessage.fields.definitions.orNull.list, { name, index, type: "f64" });
}

test("twelve hours of messages, replays and alarms leave a page as large as its first hours did", async () => {
  const page = new OpenPage();
  const run = async (hours: number) => {
    for (let at = 0; at < (hours * HOUR) / STEP_MS; at += 1) {
      page.step();
      if (at % 40 === 0) await new Promise(setImmediate);
    }
  };
  await run(3);
  const early = await kept();
  await run(9);
  const growth = (await kept()) - early;
  assert.ok(growth < GROWTH_MAX, `${growth} bytes more after nine further hours`);
});
