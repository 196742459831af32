// The journal's part of a live message, from text to types.
import {
  type Consumer,
  type Damage,
  type Durability,
  type DurabilityRule,
  type Journal,
  LEVELS,
  type Receipt,
  type Retention,
  STATES,
} from "./contract-journal.ts";
import { type Json, list, number, numberOrNull, object, text, textOrNull, texts, truth, word } from "./fields.ts";

export function journal(row: Json): Journal {
  const receipt = row["receipt"];
  return {
    state: word(row, "state", STATES),
    reason: textOrNull(row, "reason"),
    advice: textOrNull(row, "advice"),
    first_offset: numberOrNull(row, "first_offset"),
    next_offset: numberOrNull(row, "next_offset"),
    synced_offset: numberOrNull(row, "synced_offset"),
    bytes: numberOrNull(row, "bytes"),
    bytes_max: numberOrNull(row, "bytes_max"),
    segments: numberOrNull(row, "segments"),
    not_journaled: numberOrNull(row, "not_journaled"),
    held_by: textOrNull(row, "held_by"),
    durability: durability(object(row["durability"], "durability")),
    acknowledged: acknowledged(object(row["acknowledged"], "acknowledged")),
    retention: retention(object(row["retention"], "retention")),
    consumers: list(row, "consumers", consumer),
    consumers_total: number(row, "consumers_total"),
    receipt: receipt === null ? null : receiptOf(object(receipt, "receipt")),
  };
}

function durability(row: Json): Durability {
  return {
    default: word(row, "default", LEVELS),
    journaled: texts(row, "journaled"),
    rules: list(row, "rules", rule),
  };
}

function rule(row: Json): DurabilityRule {
  return { topics: texts(row, "topics"), level: word(row, "level", LEVELS) };
}

function acknowledged(row: Json): Journal["acknowledged"] {
  return { memory: number(row, "memory"), process: number(row, "process"), disk: number(row, "disk") };
}

function retention(row: Json): Retention {
  return {
    age_s: numberOrNull(row, "age_s"),
    bytes: numberOrNull(row, "bytes"),
    keep_unread: truth(row, "keep_unread"),
  };
}

function consumer(row: Json): Consumer {
  return {
    name: text(row, "name"),
    offset: numberOrNull(row, "offset"),
    behind: numberOrNull(row, "behind"),
    updated_ms: numberOrNull(row, "updated_ms"),
    flaw: textOrNull(row, "flaw"),
  };
}

function damage(row: Json): Damage {
  return {
    first_offset: number(row, "first_offset"),
    end_offset: number(row, "end_offset"),
    text: text(row, "text"),
  };
}

function receiptOf(row: Json): Receipt {
  return {
    text: text(row, "text"),
    cut_bytes: number(row, "cut_bytes"),
    cut_why: textOrNull(row, "cut_why"),
    damage: list(row, "damage", damage),
    damage_total: number(row, "damage_total"),
    flaws: texts(row, "flaws"),
  };
}
