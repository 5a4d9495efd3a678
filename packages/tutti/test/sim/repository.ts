// A git repository in memory: commits are trees with parents; branches and refs name them. It outlives engines. Merges
// compare whole files, which suffices for conflicts and for lost work.
import { hash } from "./random.ts";

/** Agents read this file when they start. */
export const INSTRUCTIONS = "docs/AGENTS.md";

export type Tree = Readonly<Record<string, string>>;

interface Commit {
  id: string;
  tree: Tree;
  parents: readonly string[];
  /** Greater than the depth of every ancestor. */
  depth: number;
}

export interface Folder {
  runId: string;
  path: string;
  start: string;
  files: Record<string, string>;
  /** Whether no attempt uses it yet. */
  isAhead: boolean;
}

export class Repository {
  readonly commits = new Map<string, Commit>();
  readonly refs = new Map<string, string>();
  readonly branches = new Map<string, string>();
  readonly folders = new Map<string, Folder>();
  /** Every file content that a ref or a branch still reaches. */
  readonly #held = new Set<string>();
  readonly #seen = new Set<string>();
  head: string;

  constructor() {
    this.head = this.commit({ "README.md": "as it was" }, [], "the beginning");
    this.setBranch("main", this.head);
  }

  /** The same tree, parents and message give the same commit. */
  commit(tree: Tree, parents: readonly string[], message: string): string {
    const sorted = Object.fromEntries(Object.entries(tree).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const text = JSON.stringify([sorted, parents, message]);
    const id = `c${hash(text).toString(36)}${hash(`${text}!`).toString(36)}`;
    const depth = 1 + Math.max(0, ...parents.map((parent) => this.get(parent).depth));
    if (!this.commits.has(id)) this.commits.set(id, { id, tree: sorted, parents, depth });
    return id;
  }

  get(id: string): Commit {
    const commit = this.commits.get(id);
    if (!commit) throw new Error(`commit "${id}" does not exist`);
    return commit;
  }

  /** Includes the commit itself. */
  ancestors(id: string): Set<string> {
    const found = new Set([id]);
    for (const each of found) for (const parent of this.get(each).parents) found.add(parent);
    return found;
  }

  /** Follows first parents only, newest first. */
  mainLine(id: string): string[] {
    const line: string[] = [];
    for (let at: string | undefined = id; at !== undefined; at = this.get(at).parents[0]) line.push(at);
    return line;
  }

  holds(id: string, other: string): boolean {
    return this.ancestors(id).has(other);
  }

  setRef(name: string, id: string): void {
    this.refs.set(name, id);
    this.#hold(id);
  }

  setBranch(name: string, id: string): void {
    this.branches.set(name, id);
    this.#hold(id);
  }

  #hold(id: string): void {
    for (const each of this.ancestors(id)) {
      if (this.#seen.has(each)) continue;
      this.#seen.add(each);
      for (const content of Object.values(this.get(each).tree)) this.#held.add(content);
    }
  }

  isHeld(content: string): boolean {
    return this.#held.has(content);
  }

  changed(from: string, to: string): string[] {
    const [before, after] = [this.get(from).tree, this.get(to).tree];
    const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...paths].filter((path) => before[path] !== after[path]).toSorted();
  }

  /** `collided` lists the files that both sides have changed since their merge base. */
  merge(ours: string, theirs: string): { tree: Record<string, string>; collided: string[] } {
    const base = this.#mergeBase(ours, theirs);
    const tree: Record<string, string> = { ...this.get(ours).tree };
    const mine = new Set(this.changed(base, ours));
    const collided: string[] = [];
    for (const path of this.changed(base, theirs)) {
      const content = this.get(theirs).tree[path];
      if (tree[path] === content) continue;
      if (mine.has(path)) collided.push(path);
      else if (content === undefined) delete tree[path];
      else tree[path] = content;
    }
    return { tree, collided };
  }

  #mergeBase(one: string, other: string): string {
    const common = [...this.ancestors(one)].filter((id) => this.holds(other, id));
    return common.toSorted((a, b) => this.get(b).depth - this.get(a).depth || (a < b ? -1 : 1))[0]!;
  }
}
