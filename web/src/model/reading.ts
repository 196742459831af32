// Reads a payload as a number where it is one in plain decimal writing; anything else is not for a chart.

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
/** A longer one may be cut off by the broker, and would then be a different number. */
const CHARACTERS_MAX = 64;

export function numericReading(text: string | null): number | null {
  if (text === null || text.length > CHARACTERS_MAX || !DECIMAL.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
