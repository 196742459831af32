// What the page says about its visitor: who it is, why it has to log in, and what is wrong with a login.
import type { ConsoleVisitor } from "./contract.ts";
import { legible } from "./wording.ts";

/** The broker closes a page with these codes when a login or a right has ended. */
const LOGIN_ENDED = 4401;
const RIGHTS_ENDED = 4403;
const ENDED = "Your login has ended. Log in again.";

/** Why the broker closed the page, in its own words; null if it closed for another reason, and the page connects again. */
export function endReason(code: number, reason: string): string | null {
  if (code !== LOGIN_ENDED && code !== RIGHTS_ENDED) return null;
  return legible(reason) || ENDED;
}

/** What the page does about its visitor: it shows the broker, or the form with a sentence. */
export type Admission = { readonly kind: "shown" } | { readonly kind: "form"; readonly sentence: string };

/** `reason`: why a login has ended; null on a page that was just opened. */
export function admission(visitor: ConsoleVisitor, reason: string | null): Admission {
  if (!visitor.needs_login) return { kind: "shown" };
  if (visitor.user !== null) {
    return { kind: "form", sentence: `${reason ?? "No rule lets you watch anything."} You are ${legible(visitor.user)}: log in as somebody else, or ask an administrator.` };
  }
  return { kind: "form", sentence: reason ?? "This broker has users. Log in to see it." };
}

/** Whether somebody who was shown the broker has to log in now. */
export function hasEnded(before: ConsoleVisitor, now: ConsoleVisitor): boolean {
  return now.needs_login || now.user !== before.user;
}

export function may(visitor: ConsoleVisitor | null, area: string): boolean {
  return visitor !== null && visitor.administers.includes(area);
}

/** What the form says after a login that failed. */
export function loginTrouble(status: number, text: string): string {
  if (status === 401) return "The user name or the password is wrong.";
  const told = legible(text.trim());
  return told === "" ? `The broker refused (${status}).` : `${told.charAt(0).toUpperCase()}${told.slice(1)}.`;
}
