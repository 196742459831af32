// Messages with nothing in them, for tests to fill in: every field of a shape is 0, empty or null.
import type { Shape, TypeOf } from "../src/model/shape.ts";

const BLANKS = { number: 0, text: "", truth: false, pair: [0, 0], scalar: 0 };

export function blank<const S extends Shape>(shape: S, changes: object = {}): TypeOf<S> {
  const made: unknown = { ...(empty(shape) as object), ...changes };
  return made as TypeOf<S>;
}

function empty(shape: Shape): unknown {
  if (typeof shape === "string") return BLANKS[shape];
  if ("orNull" in shape) return null;
  if ("list" in shape) return [];
  if ("oneOf" in shape) return shape.oneOf[0];
  return Object.fromEntries(Object.entries(shape.fields).map(([name, inner]) => [name, empty(inner)]));
}
