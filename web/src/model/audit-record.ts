// A page of the audit as /api/audit answers it, and a record in words.
import { fields, list, orNull, type TypeOf } from "./shape.ts";
import { UNKNOWN, count, legible, moment } from "./wording.ts";

const AuditRecord = fields({
  offset: "number", at_ns: "number", kind: "text", user: orNull("text"), client: orNull("text"),
  address: orNull("text"), proof: orNull("text"), right: orNull("text"), topic: orNull("text"),
  rule: orNull("number"), outcome: "text", detail: orNull("text"), count: "number",
});
export type AuditRecord = TypeOf<typeof AuditRecord>;

/** `before` asks for the next page; null after the last one. */
export const AuditPage = fields({ records: list(AuditRecord), before: orNull("number") });
export type AuditPage = TypeOf<typeof AuditPage>;

export interface AuditSearch {
  kind: string;
  user: string;
  client: string;
}

export const KINDS = [
  "connected", "disconnected", "refused", "subscribed", "selected", "read", "denied", "changed", "login", "logout",
  "token_issued", "token_revoked", "quota", "started", "stopped", "lost",
];

/** Where a page of the audit is asked for. */
export function auditPath(search: AuditSearch, before: number | null): string {
  const asked = new URLSearchParams();
  for (const [key, text] of Object.entries(search)) if (text !== "") asked.set(key, text as string);
  if (before !== null) asked.set("before", String(before));
  return `api/audit?${asked.toString()}`;
}

/** The cells of a row: when, what, how it ended, who, from where, by which right, about what, and more. */
export function auditCells(record: AuditRecord): string[] {
  const who = [record.user, record.proof === null ? null : `(${record.proof})`].filter((word) => word !== null);
  const right = record.rule === null ? record.right : `${record.right ?? ""} (rule ${record.rule})`;
  const times = record.count > 1 ? [`${count(record.count)} times`] : [];
  const detail = [...times, record.detail ?? ""].filter((word) => word !== "");
  const words = [who.join(" "), record.client, record.address, right, record.topic, detail.join(": ")];
  return [
    moment(record.at_ns / 1e6), record.kind, record.outcome,
    ...words.map((word) => (word === null || word === "" ? UNKNOWN : legible(word))),
  ];
}
