// Checks a message of the broker against its shape: every field has the type that the contract says, or `NotUnderstood` is
// thrown. All other code trusts the types.

/** The broker sent something that is not in the contract: usually the page is older or newer than the broker. */
export class NotUnderstood extends Error {}

interface Kinds {
  number: number;
  text: string;
  truth: boolean;
  pair: [number, number];
  scalar: number | boolean | string;
}

export type Shape =
  | keyof Kinds
  | { readonly oneOf: readonly string[] }
  | { readonly orNull: Shape }
  | { readonly list: Shape }
  | { readonly fields: { readonly [name: string]: Shape } };

/** The type of what has a shape. */
export type TypeOf<S> = S extends keyof Kinds
  ? Kinds[S]
  : S extends { oneOf: readonly (infer W)[] }
    ? W
    : S extends { orNull: infer I }
      ? TypeOf<I> | null
      : S extends { list: infer I }
        ? TypeOf<I>[]
        : S extends { fields: infer F }
          ? { -readonly [N in keyof F]: TypeOf<F[N]> }
          : never;

export const oneOf = <const W extends string[]>(...words: W) => ({ oneOf: words });
export const orNull = <const S extends Shape>(shape: S) => ({ orNull: shape });
export const list = <const S extends Shape>(shape: S) => ({ list: shape });
export const fields = <const F extends { [name: string]: Shape }>(shapes: F) => ({ fields: shapes });

const isNumber = (value: unknown): boolean => typeof value === "number";
const CHECKS: { [K in keyof Kinds]: [is: (value: unknown) => boolean, expected: string] } = {
  number: [isNumber, "a number"],
  text: [(value) => typeof value === "string", "text"],
  truth: [(value) => typeof value === "boolean", "true or false"],
  pair: [(value) => Array.isArray(value) && value.length === 2 && value.every(isNumber), "two numbers"],
  scalar: [(value) => ["number", "boolean", "string"].includes(typeof value), "a number, true, false or text"],
};

export function parse<const S extends Shape>(shape: S, source: string): TypeOf<S> {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new NotUnderstood("not JSON");
  }
  return read(shape, value, "message") as TypeOf<S>;
}

function read(shape: Shape, value: unknown, name: string): unknown {
  if (typeof shape === "string") {
    const [is, expected] = CHECKS[shape];
    return is(value) ? value : fail(name, expected);
  }
  if ("orNull" in shape) return value === null ? null : read(shape.orNull, value, name);
  if ("oneOf" in shape) return shape.oneOf.find((word) => word === value) ?? fail(name, shape.oneOf.join(" or "));
  if ("list" in shape) return Array.isArray(value) ? value.map((row) => read(shape.list, row, name)) : fail(name, "a list");
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(name, "an object");
  const row = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(shape.fields).map(([key, inner]) => [key, read(inner, row[key], key)]));
}

function fail(name: string, expected: string): never {
  throw new NotUnderstood(`"${name}" is not ${expected}`);
}
