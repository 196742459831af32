// Which page an address names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress } from "../src/shell/router.ts";

test("no fragment is the first page", () => {
  assert.equal(readAddress("")?.path, "");
  assert.equal(readAddress("#/")?.path, "");
});

test("a page has a path, a rest and a query", () => {
  const address = readAddress("#/layouts/my%20flight?from=1");
  assert.equal(address?.path, "layouts");
  assert.equal(address?.rest, "my flight");
  assert.equal(address?.query.get("from"), "1");
});

test("a link within a page is no page's", () => {
  assert.equal(readAddress("#parameters-title"), null);
});

test("a rest that is not encoded as it should be is taken as it is", () => {
  assert.equal(readAddress("#/layouts/100%")?.rest, "100%");
});
