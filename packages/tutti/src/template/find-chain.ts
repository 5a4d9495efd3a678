// From a template to its oldest ancestor.
//
// 1. A parent is looked for where the child is, then further out: project, user, system. So a project can refine what
//    the person has, and nothing in a project changes what the person's own templates inherit.
// 2. A template that extends its own id means the one of that id further out.
import type { RawTemplate } from "./raw-template.ts";

/** One place where templates are, and the next one further out. */
export interface Shelf {
  readonly name: "system" | "user" | "project";
  readonly outer: Shelf | null;
  /** Undefined if there is none; a null `raw` says that its file cannot be used, for these reasons. */
  get(id: string): { raw: RawTemplate | null; problems: readonly string[] } | undefined;
}

export interface Link {
  id: string;
  shelf: Shelf;
  raw: RawTemplate;
  /** What is wrong with the newest version of its file. */
  problems: readonly string[];
}

export const CIRCULAR = "Circular inheritance detected";

export type ChainResult = { links: Link[] } | { error: string };

/** The template need not be on the shelf: it is checked as if it were. */
export function findChain(raw: RawTemplate, shelf: Shelf): ChainResult {
  const links: Link[] = [{ id: String(raw["id"]), shelf, raw, problems: [] }];
  for (;;) {
    const child = links.at(-1)!;
    const parentId = child.raw["extends"];
    if (typeof parentId !== "string") return { links };
    const path = [...links.map((link) => link.id), parentId].join(" -> ");
    const isOwn = parentId === child.id;
    const found = findOutward(parentId, isOwn ? child.shelf.outer : child.shelf, links);
    if (found === "circular" || (!found && isOwn)) return { error: `${CIRCULAR}: ${path}` };
    if (!found) return { error: `"extends" names ${JSON.stringify(parentId)}, and there is no such template: ${path}` };
    if (!found.raw)
      return { error: `"extends" leads to a template that cannot be used: ${path} (${found.problems.join(" ")})` };
    links.push({ id: parentId, shelf: found.shelf, raw: found.raw, problems: found.problems });
  }
}

/** A template that is not on its shelf yet is found there all the same. */
function findOutward(id: string, from: Shelf | null, links: readonly Link[]) {
  for (let shelf = from; shelf; shelf = shelf.outer) {
    if (links.some((link) => link.id === id && link.shelf === shelf)) return "circular";
    const found = shelf.get(id);
    if (found) return { shelf, ...found };
  }
  return undefined;
}
