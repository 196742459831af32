// Who is shown the form, with which sentence, and what a visitor may press.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConsoleVisitor } from "../src/model/contract.ts";
import { admission, endReason, hasEnded, loginTrouble, may } from "../src/model/visitor-wording.ts";

const NOBODY: ConsoleVisitor = {
  needs_login: true, has_users: true, user: null, role: null, watches: "nothing", administers: [], csrf: null, oidc: null,
};
const VERA: ConsoleVisitor = { ...NOBODY, needs_login: false, user: "vera", role: "viewer", watches: "all", csrf: "x" };

test("only the codes for an ended login or right lead to the form", () => {
  assert.equal(endReason(1006, ""), null);
  assert.equal(endReason(1001, "the broker stops"), null);
  assert.equal(endReason(4401, "Your user was removed."), "Your user was removed.");
  assert.equal(endReason(4403, ""), "Your login has ended. Log in again.");
});

test("who may watch is shown the broker, whatever ended before", () => {
  assert.deepEqual(admission(VERA, null), { kind: "shown" });
  assert.deepEqual(admission(VERA, "Your rights were changed."), { kind: "shown" });
});

test("the form says why it is there", () => {
  assert.deepEqual(admission(NOBODY, null), { kind: "form", sentence: "This broker has users. Log in to see it." });
  assert.deepEqual(admission(NOBODY, "Your login has ended."), { kind: "form", sentence: "Your login has ended." });
  const powerless = admission({ ...VERA, needs_login: true, watches: "nothing" }, null);
  assert.match(powerless.kind === "form" ? powerless.sentence : "", /^No rule lets you watch anything. You are vera:/);
});

test("a name in a sentence is legible", () => {
  const hostile = admission({ ...VERA, user: "a\u202eb", needs_login: true }, null);
  assert.match(hostile.kind === "form" ? hostile.sentence : "", /a‹U\+202E›b/);
});

test("a login has ended when somebody else, or nobody, is there", () => {
  assert.equal(hasEnded(VERA, VERA), false);
  assert.equal(hasEnded(VERA, NOBODY), true);
  assert.equal(hasEnded(VERA, { ...VERA, user: "otto" }), true);
});

test("a button is for who may administer its area", () => {
  assert.equal(may(null, "memory"), false);
  assert.equal(may(VERA, "memory"), false);
  assert.equal(may({ ...VERA, administers: ["memory"] }, "memory"), true);
});

test("a failed login is told in a sentence", () => {
  assert.equal(loginTrouble(401, "whatever"), "The user name or the password is wrong.");
  assert.equal(loginTrouble(429, "too many wrong passwords; try again in 4 s\n"), "Too many wrong passwords; try again in 4 s.");
  assert.equal(loginTrouble(502, ""), "The broker refused (502).");
});
