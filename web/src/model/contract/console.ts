// What the broker sends to the page. Written by `make reference` from python/slipring/status.
import { fields, list, orNull, type TypeOf } from "../shape.ts";

/** Who a page's visitor is, and what they may do. */
export const ConsoleVisitor = fields({
  needs_login: "truth", has_users: "truth", user: orNull("text"), role: orNull("text"), watches: "text",
  administers: list("text"), csrf: orNull("text"), oidc: orNull("text"),
});
export type ConsoleVisitor = TypeOf<typeof ConsoleVisitor>;
