// Reads a payload as a number if it is one in plain decimal writing; charts show nothing else.

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
/** A longer text may have been cut by the broker, and would be another number. */
const CHARACTERS_MAX = 64;

export function numericReading(text: string | null): number | null {
  if (text === null || text.length > CHARACTERS_MAX || !DECIMAL.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
