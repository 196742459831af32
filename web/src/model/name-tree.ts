// Names as a tree of levels: which branches are open, and which lines that makes. It knows only the branches that were fetched.
import type { ParameterBranch } from "./contract.ts";

/** One line of the tree. */
export interface TreeLine {
  /** The levels down to here, joined. */
  readonly path: string;
  readonly depth: number;
  readonly branch: ParameterBranch;
  readonly is_open: boolean;
  /** How many branches its parent has beyond those that were fetched; only the last of them says it. */
  readonly left_out: number;
}

interface Level {
  readonly branches: readonly ParameterBranch[];
  readonly total: number;
}

/** What stands for the level above all. */
const ROOT = null;

export class NameTree {
  readonly #levels = new Map<string | null, Level>();
  readonly #open = new Set<string>();
  /** Where all names begin with the same levels, these are open at first: the path that the next one would have. */
  #common: string | null | undefined = ROOT;

  /** Takes the branches below a path; null is above the first level. */
  take(path: string | null, branches: readonly ParameterBranch[], total: number): void {
    this.#levels.set(path, { branches, total });
    const [only, ...others] = branches;
    if (path !== this.#common || !only) return;
    this.#common = undefined;
    if (others.length > 0 || !only.has_more) return;
    this.#common = path === ROOT ? only.level : `${path}/${only.level}`;
    this.#open.add(this.#common);
  }

  /** Whether the branches below a path are known. */
  has(path: string | null): boolean {
    return this.#levels.has(path);
  }

  isOpen(path: string): boolean {
    return this.#open.has(path);
  }

  setOpen(path: string, is_open: boolean): void {
    if (is_open) this.#open.add(path);
    else this.#open.delete(path);
  }

  /** Opens every branch on the way to a path, not the path itself. Gives those whose branches are not known. */
  openTo(path: string): string[] {
    const levels = path.split("/");
    const above = levels.slice(1).map((_, at) => levels.slice(0, at + 1).join("/"));
    for (const one of above) this.#open.add(one);
    return above.filter((one) => !this.has(one));
  }

  /** The paths whose branches are shown: they are fetched again when the names change. */
  shown(): (string | null)[] {
    return [ROOT, ...this.#open];
  }

  /** Open branches that are shown and whose branches are not known. */
  missing(): string[] {
    return this.lines().filter(({ path, is_open }) => is_open && !this.has(path)).map(({ path }) => path);
  }

  lines(): TreeLine[] {
    return this.#below(ROOT, 0);
  }

  /** Where an arrow key leads from a line: to another line, or to open or close this one. */
  arrow(key: string, path: string | null): { to?: string; open?: boolean } | null {
    const lines = this.lines();
    const at = lines.findIndex((line) => line.path === path);
    const here = lines[at];
    const to = (index: number) => {
      const line = lines[Math.max(0, Math.min(lines.length - 1, index))];
      return line ? { to: line.path } : null;
    };
    if (key === "ArrowDown") return to(at + 1);
    if (key === "ArrowUp") return to(at - 1);
    if (key === "Home") return to(0);
    if (key === "End") return to(lines.length - 1);
    if (!here) return null;
    if (key === "ArrowRight") return here.is_open ? to(at + 1) : here.branch.has_more ? { open: true } : null;
    if (key !== "ArrowLeft") return null;
    if (here.is_open) return { open: false };
    const parent = lines.slice(0, at).findLast((line) => line.depth < here.depth);
    return parent ? { to: parent.path } : null;
  }

  #below(path: string | null, depth: number): TreeLine[] {
    const level = this.#levels.get(path);
    if (!level) return [];
    const { branches, total } = level;
    return branches.flatMap((branch, at) => {
      const own = path === ROOT ? branch.level : `${path}/${branch.level}`;
      const is_open = branch.has_more && this.#open.has(own);
      const left_out = at === branches.length - 1 ? total - branches.length : 0;
      const line = { path: own, depth, branch, is_open, left_out };
      return is_open ? [line, ...this.#below(own, depth + 1)] : [line];
    });
  }
}
