// What the shell decides without a page: keys, colours, and what the broker is asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { livePath, partsOf, partsRequest } from "../src/model/live-parts.ts";
import { PAGE_LETTERS, Shortcuts } from "../src/model/shortcut.ts";
import { nextChoice, shownTheme, themeChoice, themeWords } from "../src/model/theme-choice.ts";

test("g and a letter go to a page, if they come together", () => {
  const keys = new Shortcuts();
  assert.equal(keys.pressed("g", 0), null);
  assert.deepEqual(keys.pressed("c", 900), { kind: "page", path: "clients" });
  assert.equal(keys.pressed("c", 950), null);
  keys.pressed("g", 2_000);
  assert.equal(keys.pressed("c", 9_000), null);
  keys.pressed("g", 10_000);
  assert.equal(keys.pressed("x", 10_100), null);
  assert.deepEqual(keys.pressed("/", 10_200), { kind: "search" });
  assert.deepEqual(keys.pressed("?", 10_300), { kind: "help" });
});

test("each page has a letter of its own, and none is g", () => {
  const letters = Object.values(PAGE_LETTERS);
  assert.equal(new Set(letters).size, letters.length);
  assert.ok(!letters.includes("g"));
});

test("the colours are those of the system until a person chooses", () => {
  assert.equal(themeChoice(null), "system");
  assert.equal(themeChoice("purple"), "system");
  assert.equal(nextChoice(nextChoice(nextChoice("system"))), "system");
  assert.deepEqual(["dark", "light"], [shownTheme("system", true), shownTheme("system", false)]);
  assert.equal(shownTheme("light", true), "light");
  assert.equal(themeWords("dark"), "Colours: dark");
});

test("the broker is asked once for what several pages need", () => {
  const parts = partsOf(["values", "clients"], [], ["values"]);
  assert.deepEqual(parts, ["clients", "values"]);
  assert.equal(livePath(parts), "api/live?parts=clients,values");
  assert.equal(livePath([]), "api/live?parts=");
  assert.deepEqual(JSON.parse(partsRequest([])), { parts: [] });
});
