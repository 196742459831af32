// Consumers and jobs in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveMessage } from "../src/model/contract.ts";
import { consumerCells, hasSetAside, readersLine, tableCells } from "../src/model/pipeline-wording.ts";
import { blank } from "./blank.ts";

const JOURNAL = LiveMessage.fields.broker.fields.journal;
const known = {
  name: "lake", offset: 1_000, behind: 234, lag_s: 1.26, messages_s: 33.3, rows: [], updated_ms: 10_000, flaw: null,
};
const rows = [
  { table: "samples", rows: 24_000_000, rows_s: 1_002_311, last_rows: 500_000 },
  { table: "messages", rows: 100, rows_s: 7_689, last_rows: 2 },
  { table: "set_aside", rows: 3, rows_s: 0, last_rows: 0 },
];

test("a consumer is told with how far it is behind, or with what is wrong with it", () => {
  const told = (changes: object): string[] => consumerCells({ ...known, ...changes }, 15_000);
  assert.deepEqual(told({}), ["lake", "1,000", "234", "1.3 s", "33.3", "–", "–", "5 s"]);
  assert.deepEqual([0, 9.96, 90, null].map((lag_s) => told({ lag_s })[3]), ["0.0 s", "9 s", "1 min 30 s", "–"]);
  const unknown = { offset: null, behind: null, lag_s: null, messages_s: null, updated_ms: null };
  const broken = { ...unknown, flaw: "its content is damaged" };
  assert.deepEqual(told(broken), ["lake", "–", "–", "–", "–", "–", "–", "its content is damaged"]);
});

test("what a job writes is told in all and by table, and what it set aside by its number", () => {
  assert.deepEqual(consumerCells({ ...known, rows }, 0).slice(5, 7), ["1.01 M", "3"]);
  assert.deepEqual(tableCells({ ...known, rows }).map(({ cells }) => cells), [
    ["samples", "lake", "24,000,000", "1.00 M", "500,000"],
    ["messages", "lake", "100", "7,689", "2"],
    ["set_aside", "lake", "3", "0", "0"],
  ]);
  assert.ok(hasSetAside({ ...known, rows }));
  assert.ok(!hasSetAside(known));
});

test("one line says who reads the journal", () => {
  const journal = blank(JOURNAL);
  assert.equal(readersLine(journal), "nobody has left a position");
  assert.equal(readersLine({ ...journal, consumers: [known], consumers_total: 2 }), "2 consumers; lake: 234 messages behind");
  const broken = { ...known, flaw: "it is damaged" };
  assert.equal(readersLine({ ...journal, consumers: [broken], consumers_total: 1 }), "1 consumer; lake: it is damaged");
});
