// Asks the broker about layouts, and has it save them. What goes wrong comes back as a sentence, never as an exception.
import { sendJson } from "./console-request.ts";
import { type KeptLayout, type LayoutDocument, type LayoutRow, readLayout, readRows } from "./model/layout.ts";
import { legible, timeOfDay } from "./model/wording.ts";

const PATH = "api/layouts";

export interface Trouble {
  readonly trouble: string;
}

/** Somebody else has saved or removed it since. */
export interface SaveConflict {
  readonly conflict: string;
}

export interface SavedVersion {
  readonly changed_ms: number;
}

export async function fetchRows(): Promise<LayoutRow[] | Trouble> {
  return answered(fetch(PATH), (text) => readRows(text));
}

export async function fetchLayout(name: string): Promise<KeptLayout | Trouble> {
  return answered(fetch(`${PATH}/${encodeURIComponent(name)}`), (text) => readLayout(text));
}

/** `base_ms`: the version that it was made from; null for a new one, and "any" to overwrite what there is. */
export async function saveLayout(name: string, document: LayoutDocument, base_ms: number | null | "any"): Promise<SavedVersion | SaveConflict | Trouble> {
  const versions: Record<string, string> = base_ms === null ? { "if-none-match": "*" } : base_ms === "any" ? {} : { "if-match": `"${base_ms}"` };
  const asking = sendJson("PUT", `${PATH}/${encodeURIComponent(name)}`, document, versions);
  try {
    const answer = await asking;
    if (answer.status === 409) return { conflict: conflictSentence(await answer.text()) };
    if (!answer.ok) return { trouble: await sentence(answer) };
    return { changed_ms: Number((JSON.parse(await answer.text()) as { changed_ms: unknown }).changed_ms) };
  } catch {
    return { trouble: AWAY };
  }
}

export async function removeLayout(name: string): Promise<Trouble | null> {
  const found = await answered(sendJson("DELETE", `${PATH}/${encodeURIComponent(name)}`, {}), () => ({}));
  return "trouble" in found ? found : null;
}

const AWAY = "The broker does not answer. What you changed is kept in this browser; try again.";

async function answered<T extends object>(asking: Promise<Response>, read: (text: string) => T): Promise<T | Trouble> {
  try {
    const answer = await asking;
    if (!answer.ok) return { trouble: await sentence(answer) };
    return read(await answer.text());
  } catch (error) {
    return { trouble: error instanceof TypeError ? AWAY : "The page does not understand the broker's answer. Reload it." };
  }
}

/** The broker's own words, as a sentence. */
async function sentence(answer: Response): Promise<string> {
  const told = legible((await answer.text()).trim().slice(0, 300));
  return told === "" ? `The broker refused (${answer.status}).` : `${told.charAt(0).toUpperCase()}${told.slice(1)}.`;
}

function conflictSentence(text: string): string {
  const { by, changed_ms } = JSON.parse(text) as { by: unknown; changed_ms: unknown };
  if (typeof changed_ms !== "number") return "Somebody has removed this layout since you opened it.";
  const who = typeof by === "string" ? legible(by) : "Somebody";
  return `${who} saved this layout at ${timeOfDay(changed_ms)}, after you opened it.`;
}
