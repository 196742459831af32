// Requests to the console: who the visitor is, log in and out, and whatever changes something.
import { ConsoleVisitor } from "./model/contract.ts";
import { parse } from "./model/shape.ts";

let csrf: string | null = null;

/** Who the visitor is; null if the broker does not answer. */
export async function fetchVisitor(): Promise<ConsoleVisitor | null> {
  try {
    const answer = await fetch("api/me");
    if (!answer.ok) return null;
    const visitor = parse(ConsoleVisitor, await answer.text());
    csrf = visitor.csrf;
    return visitor;
  } catch {
    return null;
  }
}

/** The text of an answer; null if the broker does not give one. */
export async function fetchText(path: string): Promise<string | null> {
  try {
    const answer = await fetch(path);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** Asks the broker to change something. The header shows that this page asks, and no other one with the same cookie. */
export function postJson(path: string, body: unknown): Promise<Response> {
  return sendJson("POST", path, body);
}

/** The same by another method. */
export function sendJson(method: "POST" | "PUT" | "DELETE", path: string, body: unknown, further: Record<string, string> = {}): Promise<Response> {
  const headers: Record<string, string> = { "content-type": "application/json", ...further };
  if (csrf !== null) headers["x-slipring-csrf"] = csrf;
  return fetch(path, { method, headers, body: JSON.stringify(body) });
}
