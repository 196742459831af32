// Records of the audit in words, and where a page of them is asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuditRecord, auditCells, auditPath } from "../src/model/audit-record.ts";

const RECORD: AuditRecord = {
  offset: 7, at_ns: 0, kind: "denied", user: "anna", client: "probe", address: "192.0.2.1:5", proof: "password",
  right: "publish", topic: "plant/a", rule: null, outcome: "refused", detail: null, count: 1,
};

test("a record says who did what by which right, and what is not known", () => {
  assert.deepEqual(auditCells(RECORD).slice(1), [
    "denied", "refused", "anna (password)", "probe", "192.0.2.1:5", "publish", "plant/a", "–",
  ]);
  const cells = auditCells({ ...RECORD, user: null, proof: null, rule: 4, detail: "3 more", count: 3 });
  assert.deepEqual([cells[3], cells[6], cells[8]], ["–", "publish (rule 4)", "3 times: 3 more"]);
});

test("control characters of a name are shown, not obeyed", () => {
  const cells = auditCells({ ...RECORD, client: "a\u001b[2J\u202e" });
  assert.doesNotMatch(cells[4] ?? "", /[\u0000-\u001f\u202e]/);
});

test("a search is in the address as it was typed", () => {
  assert.equal(auditPath({ kind: "", user: "", client: "" }, null), "api/audit?");
  assert.equal(auditPath({ kind: "denied", user: "a&b=c", client: "" }, 12), "api/audit?kind=denied&user=a%26b%3Dc&before=12");
});
