// The tree of names: what is open, which lines that makes, and where the arrow keys lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NameTree } from "../src/model/name-tree.ts";

const branch = (level: string, parameters: number, has_more = true) => ({ level, parameters, has_more, is_parameter: !has_more });

function jets(): NameTree {
  const tree = new NameTree();
  tree.take(null, [branch("gripen", 5), branch("rig", 1, false)], 2);
  tree.take("gripen", [branch("39-7", 3), branch("39-8", 2)], 2);
  tree.take("gripen/39-7", [branch("rpm", 1, false)], 3);
  return tree;
}

const paths = (tree: NameTree) => tree.lines().map(({ path, depth }) => `${depth} ${path}`);

test("only what is open has lines below it", () => {
  const tree = jets();
  assert.deepEqual(paths(tree), ["0 gripen", "0 rig"]);
  tree.setOpen("gripen", true);
  assert.deepEqual(paths(tree), ["0 gripen", "1 gripen/39-7", "1 gripen/39-8", "0 rig"]);
  tree.setOpen("gripen", false);
  assert.deepEqual(paths(tree), ["0 gripen", "0 rig"]);
});

test("a branch is opened down to a path, and what is not known of it is told", () => {
  const tree = jets();
  assert.deepEqual(tree.openTo("gripen/39-8/engine/rpm"), ["gripen/39-8", "gripen/39-8/engine"]);
  assert.ok(tree.isOpen("gripen") && tree.isOpen("gripen/39-8") && !tree.isOpen("gripen/39-7"));
  assert.deepEqual(tree.missing(), ["gripen/39-8"]);
});

test("names that all begin with the same level begin open, and stay closed once somebody closed them", () => {
  const tree = new NameTree();
  tree.take(null, [branch("gripen", 5)], 1);
  assert.ok(tree.isOpen("gripen"));
  tree.setOpen("gripen", false);
  tree.take(null, [branch("gripen", 6)], 1);
  assert.ok(!tree.isOpen("gripen"));
});

test("the levels that all names share are open down to where they differ", () => {
  const tree = new NameTree();
  tree.take(null, [branch("gripen", 5)], 1);
  tree.take("gripen", [branch("39-7", 5)], 1);
  assert.deepEqual(tree.missing(), ["gripen/39-7"]);
  tree.take("gripen/39-7", [branch("engine", 3), branch("air", 2)], 2);
  assert.deepEqual(paths(tree), ["0 gripen", "1 gripen/39-7", "2 gripen/39-7/engine", "2 gripen/39-7/air"]);
  tree.setOpen("gripen/39-7", false);
  tree.take("gripen", [branch("39-7", 6)], 1);
  assert.ok(!tree.isOpen("gripen/39-7"));
});

test("branches beyond the bound are counted at the last one", () => {
  const tree = jets();
  tree.openTo("gripen/39-7/rpm");
  const last = tree.lines().find(({ path }) => path === "gripen/39-7/rpm");
  assert.equal(last?.left_out, 2);
});

test("arrow keys go through the lines, open, close, and lead to the parent", () => {
  const tree = jets();
  assert.deepEqual(tree.arrow("ArrowDown", null), { to: "gripen" });
  assert.deepEqual(tree.arrow("ArrowRight", "gripen"), { open: true });
  tree.setOpen("gripen", true);
  assert.deepEqual(tree.arrow("ArrowRight", "gripen"), { to: "gripen/39-7" });
  assert.deepEqual(tree.arrow("ArrowLeft", "gripen/39-8"), { to: "gripen" });
  assert.deepEqual(tree.arrow("ArrowLeft", "gripen"), { open: false });
  assert.deepEqual(tree.arrow("ArrowUp", "gripen"), { to: "gripen" });
  assert.deepEqual(tree.arrow("End", "gripen"), { to: "rig" });
  assert.equal(tree.arrow("ArrowRight", "rig"), null);
  assert.equal(tree.arrow("x", "gripen"), null);
});

test("an empty level has a line of its own", () => {
  const tree = new NameTree();
  tree.take(null, [branch("", 1), branch("a", 1)], 2);
  tree.setOpen("", true);
  tree.take("", [branch("b", 1, false)], 1);
  assert.deepEqual(paths(tree), ["0 ", "1 /b", "0 a"]);
});
