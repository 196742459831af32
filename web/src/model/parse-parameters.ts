// Turns the text of a message about parameters into its type, or throws `NotUnderstood`.
import type { AlarmLimits, Definition, ParametersMessage, Sample } from "./contract-parameters.ts";
import { decode, fail, type Json, list, number, numberOrNull, object, text, textOrNull } from "./fields.ts";

function limits(found: unknown): AlarmLimits | null {
  if (found === null) return null;
  const row = object(found, "limits");
  const limit = (name: string) => (row[name] === undefined ? null : numberOrNull(row, name));
  return {
    low_critical: limit("low_critical"),
    low: limit("low"),
    high: limit("high"),
    high_critical: limit("high_critical"),
  };
}

function range(found: unknown): [number, number] | null {
  if (found === null) return null;
  const [low, high] = Array.isArray(found) ? found : [];
  return typeof low === "number" && typeof high === "number" ? [low, high] : fail("range", "two numbers");
}

function definition(row: Json): Definition {
  return {
    index: number(row, "index"),
    name: text(row, "name"),
    type: text(row, "type"),
    unit: textOrNull(row, "unit"),
    description: textOrNull(row, "description"),
    range: range(row["range"]),
    limits: limits(row["limits"]),
    rate_hz: numberOrNull(row, "rate_hz"),
    source: textOrNull(row, "source"),
  };
}

function value(row: Json): Sample["value"] {
  const found = row["value"];
  if (typeof found === "number" || typeof found === "boolean" || typeof found === "string") return found;
  return fail("value", "a number, true, false or text");
}

function sample(row: Json): Sample {
  return {
    index: number(row, "index"),
    value: value(row),
    time_ms: number(row, "time_ms"),
    received_ms: number(row, "received_ms"),
    quality: text(row, "quality"),
    why: textOrNull(row, "why"),
  };
}

export function parseParametersMessage(source: string): ParametersMessage {
  const root = object(decode(source), "message");
  return {
    at_ms: number(root, "at_ms"),
    search: text(root, "search"),
    parameters: number(root, "parameters"),
    matching: number(root, "matching"),
    definitions: root["definitions"] === null ? null : list(root, "definitions", definition),
    values: list(root, "values", sample),
  };
}
