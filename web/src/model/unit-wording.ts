// Units as a person reads them, and numbers with as many digits as their range asks for. Pure.
import type { ParameterDefinition } from "./contract.ts";
import { valueText } from "./parameter-value.ts";
import { legible, reading } from "./wording.ts";

/** UCUM's codes of units that people write otherwise. */
const WRITTEN: Record<string, string> = { Cel: "°C", deg: "°", "deg/s": "°/s", "[g]": "g", "1": "", "{count}": "", m2: "m²", "m/s2": "m/s²", "kV.A": "kVA" };
/** Steps that a range is divided into for a person. */
const DIGITS = 4;
const DECIMALS_MAX = 6;

export function unitText(unit: string | null): string {
  if (unit === null) return "";
  return WRITTEN[unit] ?? legible(unit.replace(/[{}]/g, ""));
}

/** A number of the definition's type and range; without a range with its significant digits. */
export function roundedText(definition: Pick<ParameterDefinition, "type" | "range"> | null, value: number | boolean | string): string {
  const type = definition?.type ?? "f64";
  if (typeof value !== "number" || !Number.isFinite(value)) return valueText(type, typeof value === "number" ? String(value) : value);
  if (type === "bool") return valueText(type, value !== 0);
  if (type !== "f32" && type !== "f64") return valueText(type, value);
  const span = definition?.range ? definition.range[1] - definition.range[0] : 0;
  if (!(span > 0) || !Number.isFinite(span)) return reading(value);
  const decimals = Math.min(Math.max(DIGITS - Math.ceil(Math.log10(span)), 0), DECIMALS_MAX);
  return value.toFixed(decimals).replace(/^-(0(?:\.0+)?)$/, "$1");
}
