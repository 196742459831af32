// The journal in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type JournalSummary, LiveMessage } from "../src/model/contract.ts";
import * as wording from "../src/model/journal-wording.ts";
import { parse } from "../src/model/shape.ts";
import { blank } from "./blank.ts";

const JOURNAL = LiveMessage.fields.broker.fields.journal;
const ARCHIVE = JOURNAL.fields.archive.orNull;
const RECEIPT = JOURNAL.fields.receipt.orNull;

function journal(changes: object = {}): JournalSummary {
  const durability = { default: "disk", journaled: ["#"], rules: [] };
  const retention = { age_s: null, bytes: null, keep_unread: true };
  return parse(JOURNAL, JSON.stringify(blank(JOURNAL, { durability, retention, ...changes })));
}

test("an alarm says what is wrong and what to do, and no alarm is raised while all is well", () => {
  assert.equal(wording.alarm(journal()), null);
  const full = journal({ state: "full", reason: "no room: no space", advice: "free some space" });
  assert.equal(wording.alarm(full), "No room: no space. Free some space.");
});

test("what is stored is told against its bound, where it has one", () => {
  const some = { bytes: 2_500_000, segments: 1 };
  assert.equal(wording.stored(journal(some)), "2.5 MB in 1 segment, the disk is the bound");
  assert.equal(wording.fullness(journal(some)), null);
  const bounded = journal({ ...some, segments: 3, bytes_max: 10_000_000 });
  assert.equal(wording.stored(bounded), "2.5 MB in 3 segments, full at 10.0 MB");
  assert.equal(wording.fullness(bounded), 0.25);
  assert.equal(wording.fullness(journal({ bytes: 11, bytes_max: 10 })), 1);
});

test("offsets tell what is not on disk yet", () => {
  const told = wording.offsets(journal({ first_offset: 5, next_offset: 1_234, synced_offset: 1_200 }));
  assert.equal(told, "first 5, next 1,234, on disk before 1,200");
  assert.equal(wording.offsets(journal({ state: "off" })), "none");
});

test("retention is told with who holds it back", () => {
  assert.equal(wording.retention(journal()), "everything is kept for ever");
  const both = { age_s: 86_400, bytes: 5_000_000_000, keep_unread: true };
  assert.equal(
    wording.retention(journal({ retention: both, held_by: "spark" })),
    "older than 1 d 0 h or beyond 5.0 GB is removed, except what a consumer has not read; held back by spark",
  );
  const age = { age_s: 60, bytes: null, keep_unread: false };
  assert.equal(wording.retention(journal({ retention: age })), "older than 1 min 0 s is removed, read or not");
  const size = { age_s: null, bytes: 2_000_000_000, keep_unread: false };
  assert.equal(wording.retention(journal({ retention: size })), "beyond 2.0 GB the oldest is removed, read or not");
});

test("the archive is told with how far it is behind, and why it fails", () => {
  const found = (changes: object): string =>
    wording.archive(parse(ARCHIVE, JSON.stringify(blank(ARCHIVE, { failure: null, ...changes }))));
  assert.equal(wording.archive(journal({ archive: null }).archive), "there is none");
  assert.equal(found({}), "nothing yet; 0 behind, 0 complete segments waiting");
  const some = { first_offset: 5, end_offset: 1_234, behind: 66, waiting: 1 };
  assert.equal(found(some), "offsets 5 to 1,234; 66 behind, 1 complete segment waiting");
  assert.equal(found({ ...some, failure: "no route" }), `${found(some)}; failing: no route`);
});

test("levels are told in the order in which they are tried, and what is not journaled is in memory", () => {
  const rules = [{ topics: ["a/#", "b\u202e"], level: "memory" }];
  const told = (changes: object): unknown =>
    wording.levels(journal({ durability: { default: "disk", journaled: ["#"], rules: [], ...changes } }));
  assert.deepEqual(told({}), [["everything", "disk"]]);
  assert.deepEqual(told({ rules }), [
    ["a/#, b‹U+202E›", "memory"],
    ["everything else", "disk"],
  ]);
  assert.deepEqual(told({ journaled: ["x/#"] }), [
    ["x/#", "disk"],
    ["what is not journaled", "memory"],
  ]);
  assert.deepEqual(told({ journaled: [] }), [["everything", "memory"]]);
});

test("a receipt has its cut, and damage has its ranges and what is left out of them", () => {
  const found = blank(RECEIPT, { text: "5 messages kept", cut_bytes: 3, cut_why: "3 bytes cut" });
  assert.equal(wording.receipt(journal({ receipt: found }).receipt), "5 messages kept; 3 bytes cut");
  const damage = [blank(RECEIPT.fields.damage.list, { text: "offsets 1 to 2 cannot be read" })];
  const damaged = journal({ receipt: { ...found, damage, damage_total: 8, flaws: ["x"] } }).receipt;
  assert.deepEqual(wording.damage(damaged), ["offsets 1 to 2 cannot be read", "and 7 more ranges", "lost of the sessions: x"]);
  assert.deepEqual(wording.damage(null), []);
});

test("a level or a state that the page does not know is refused by name", () => {
  assert.throws(() => journal({ state: "tired" }), /"state" is not ok or full/);
  assert.throws(() => journal({ acknowledged: {} }), /"memory" is not a number/);
});
