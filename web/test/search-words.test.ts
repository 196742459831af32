// The words of a search as the page writes them: one is changed, the others stay as a person typed them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { branchOf, withBranch, withWord, wordOf } from "../src/model/search-words.ts";

test("a word is found by its kind, in quotes or not", () => {
  assert.equal(wordOf('rpm unit:kPa state:stale unit:"deg C"', "unit"), "kPa");
  assert.equal(wordOf('UNIT:"deg C"', "unit"), "deg C");
  assert.equal(wordOf("rpm", "state"), null);
  assert.equal(wordOf("<img src=x onerror=alert('unit:')>", "unit"), null);
});

test("a word takes the place of those of its kind, and the rest stays", () => {
  assert.equal(withWord("rpm state:stale  left", "state", "bad"), "rpm left state:bad");
  assert.equal(withWord("rpm state:stale state:bad", "state", null), "rpm");
  assert.equal(withWord("", "unit", "deg C"), 'unit:"deg C"');
  assert.equal(wordOf(withWord("x", "publisher", "jet 1"), "publisher"), "jet 1");
});

test("a branch is an MQTT filter, and only one at a time", () => {
  assert.equal(withBranch("rpm", "gripen/39-7"), "gripen/39-7/# rpm");
  assert.equal(withBranch("gripen/39-7/# rpm", "gripen/39-8"), "gripen/39-8/# rpm");
  assert.equal(withBranch("gripen/39-7/# unit:V", null), "unit:V");
  assert.equal(branchOf("unit:V gripen/39-7/#"), "gripen/39-7");
  assert.equal(branchOf('"left wing/#"'), "left wing");
  assert.equal(branchOf(withBranch("", "a b/c d")), "a b/c d");
});

test("a filter that a person typed is not taken for a branch", () => {
  assert.equal(branchOf("gripen/+/engine/#"), null);
  assert.equal(withBranch("gripen/+/engine/#", "jet"), "jet/# gripen/+/engine/#");
  assert.equal(branchOf("#"), null);
});
