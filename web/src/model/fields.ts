// Fields of what the broker sent, taken out one by one: of the type that the contract says, or not at all.

/** The broker sent something that is not in the contract: usually a page older or newer than the broker. */
export class NotUnderstood extends Error {}

export type Json = Record<string, unknown>;

export function fail(name: string, expected: string): never {
  throw new NotUnderstood(`"${name}" is not ${expected}`);
}

export function object(value: unknown, name: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(name, "an object");
  return value as Json;
}

export function number(from: Json, name: string): number {
  const value = from[name];
  return typeof value === "number" ? value : fail(name, "a number");
}

export function text(from: Json, name: string): string {
  const value = from[name];
  return typeof value === "string" ? value : fail(name, "text");
}

export function numberOrNull(from: Json, name: string): number | null {
  return from[name] === null ? null : number(from, name);
}

export function textOrNull(from: Json, name: string): string | null {
  return from[name] === null ? null : text(from, name);
}

export function list<T>(from: Json, name: string, item: (row: Json) => T): T[] {
  const value = from[name];
  if (!Array.isArray(value)) fail(name, "a list");
  return value.map((row) => item(object(row, name)));
}

export function truth(from: Json, name: string): boolean {
  const value = from[name];
  return typeof value === "boolean" ? value : fail(name, "true or false");
}

export function texts(from: Json, name: string): string[] {
  const value = from[name];
  return Array.isArray(value) ? value.map(String) : fail(name, "a list");
}

/** One of a few words. */
export function word<T extends string>(from: Json, name: string, words: readonly T[]): T {
  const value = text(from, name);
  return words.find((known) => known === value) ?? fail(name, words.join(" or "));
}

export function decode(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new NotUnderstood("not JSON");
  }
}
