// Units as a person reads them. Pure.
import { legible } from "./wording.ts";

/** UCUM's codes of units that people write otherwise. */
const WRITTEN = new Map(Object.entries({ Cel: "°C", deg: "°", "deg/s": "°/s", "[g]": "g", "1": "", "{count}": "", m2: "m²", "m/s2": "m/s²", "kV.A": "kVA" }));

export function unitText(unit: string | null): string {
  if (unit === null) return "";
  return WRITTEN.get(unit) ?? legible(unit.replace(/[{}]/g, ""));
}
