// The tree of names beside the table. Branches are fetched when they are opened; choosing one narrows the table.
import { BranchesMessage } from "../model/contract.ts";
import { NameTree, type TreeLine } from "../model/name-tree.ts";
import { parse } from "../model/shape.ts";
import { count, legible } from "../model/wording.ts";
import { element, setData, setText } from "./page.ts";

/** Lines that are drawn: whoever has more open closes some, or searches. */
const LINES_MAX = 1_000;

export class ParameterTree {
  readonly root = element("div", "parameter-tree");
  readonly #tree = new NameTree();
  readonly #list = element("div", "tree-lines");
  readonly #all = element("button", "tree-all");
  readonly #chosen: (path: string | null, is_parameter: boolean) => void;
  readonly #lines: HTMLElement[] = [];
  #shown: TreeLine[] = [];
  #active: string | null = null;
  #branch: string | null = null;
  #of = "";
  #fetching = new Set<string | null>();

  /** `chosen`: a person chose a branch, or a parameter below which there is nothing; null for all names. */
  constructor(chosen: (path: string | null, is_parameter: boolean) => void) {
    this.#chosen = chosen;
    this.#all.type = "button";
    this.#all.addEventListener("click", () => chosen(null, false));
    setText(this.#all, "All names");
    Object.assign(this.#list, { role: "tree", tabIndex: 0, ariaLabel: "Names of parameters", id: "parameters-tree" });
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.root.append(this.#all, this.#list);
  }

  /** `parameters` is how many there are: with another number of them, branches are fetched again. */
  render(branch: string | null, parameters: number): void {
    if (this.#of !== String(parameters)) {
      this.#of = String(parameters);
      for (const path of this.#tree.shown()) void this.#fetch(path);
    }
    if (branch !== this.#branch) {
      this.#branch = branch;
      this.#active = branch;
      if (branch !== null) for (const path of this.#tree.openTo(branch)) void this.#fetch(path);
      this.#draw();
    }
    setData(this.#all, "chosen", branch === null ? "yes" : "no");
  }

  async #fetch(path: string | null): Promise<void> {
    if (this.#fetching.has(path)) return;
    this.#fetching.add(path);
    try {
      const query = path === null ? "" : `?path=${encodeURIComponent(path)}`;
      const answer = await fetch(`api/parameters/branches${query}`);
      if (!answer.ok) return;
      const { branches, total } = parse(BranchesMessage, await answer.text());
      this.#tree.take(path, branches, total);
      for (const open of this.#tree.missing()) void this.#fetch(open);
      this.#draw();
    } catch {
      // The broker is away: the next change of the names asks again.
    } finally {
      this.#fetching.delete(path);
    }
  }

  #draw(): void {
    this.#shown = this.#tree.lines().slice(0, LINES_MAX);
    while (this.#lines.length > this.#shown.length) this.#lines.pop()?.remove();
    while (this.#lines.length < this.#shown.length) {
      const made = treeLine(this.#lines.length);
      this.#lines.push(made);
      this.#list.append(made);
    }
    this.#shown.forEach((line, at) => {
      const node = this.#lines[at];
      if (node) this.#drawLine(node, line);
    });
    const at = this.#shown.findIndex(({ path }) => path === this.#active);
    if (at < 0) this.#list.removeAttribute("aria-activedescendant");
    else this.#list.setAttribute("aria-activedescendant", `parameter-branch-${at}`);
  }

  #drawLine(node: HTMLElement, { path, depth, branch, is_open, left_out }: TreeLine): void {
    const [sign, name, amount] = node.children;
    if (!sign || !name || !amount) return;
    setText(sign, branch.has_more ? (is_open ? "▾" : "▸") : "");
    setText(name, branch.level === "" ? "‹empty›" : legible(branch.level));
    const more = left_out > 0 ? ` · ${count(left_out)} more` : "";
    setText(amount, (branch.has_more ? count(branch.parameters) : "") + more);
    node.style.paddingInlineStart = `${6 + depth * 14}px`;
    node.ariaLevel = String(depth + 1);
    node.ariaExpanded = branch.has_more ? String(is_open) : null;
    node.ariaSelected = String(path === this.#branch);
    node.title = legible(path);
    setData(node, "branch", path);
    setData(node, "active", path === this.#active ? "yes" : "no");
  }

  #open(path: string, is_open: boolean): void {
    this.#tree.setOpen(path, is_open);
    if (is_open && !this.#tree.has(path)) void this.#fetch(path);
    this.#draw();
  }

  #clicked(event: MouseEvent): void {
    const at = this.#lines.findIndex((node) => node.contains(event.target as Node));
    const line = this.#shown[at];
    if (!line) return;
    this.#active = line.path;
    const is_sign = this.#lines[at]?.firstElementChild === event.target;
    if (is_sign && line.branch.has_more) this.#open(line.path, !line.is_open);
    else this.#choose(line);
  }

  #choose(line: TreeLine): void {
    if (line.branch.has_more) this.#open(line.path, true);
    else this.#draw();
    this.#chosen(line.path, !line.branch.has_more);
  }

  #pressed(event: KeyboardEvent): void {
    const line = this.#shown.find(({ path }) => path === this.#active);
    if (event.key === "Enter" || event.key === " ") {
      if (line) this.#choose(line);
    } else {
      const moved = this.#tree.arrow(event.key, this.#active);
      if (!moved) return;
      if (moved.to !== undefined) this.#active = moved.to;
      if (moved.open !== undefined && this.#active !== null) this.#open(this.#active, moved.open);
      else this.#draw();
      const at = this.#shown.findIndex(({ path }) => path === this.#active);
      this.#lines[at]?.scrollIntoView({ block: "nearest" });
    }
    event.preventDefault();
  }
}

function treeLine(at: number): HTMLElement {
  const made = element("div", "tree-line");
  made.role = "treeitem";
  made.id = `parameter-branch-${at}`;
  const sign = element("span", "tree-sign");
  sign.ariaHidden = "true";
  made.append(sign, element("bdi", "tree-name"), element("span", "tree-count"));
  return made;
}
