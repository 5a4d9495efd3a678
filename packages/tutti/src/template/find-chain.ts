// `findChain` follows `extends` from a template to its oldest ancestor.
//
// 1. A parent is searched on the child's shelf first, then outward: project, user, system. A project can refine the
//    user's templates, but it never changes what the user's own templates inherit.
// 2. A template that extends its own id extends the template of that id on an outer shelf.
import type { RawTemplate } from "./raw-template.ts";

export interface Shelf {
  readonly name: "system" | "user" | "project";
  readonly outer: Shelf | null;
  /** Undefined if there is no such template. If `raw` is null, the file is unusable because of `problems`. */
  get(id: string): { raw: RawTemplate | null; problems: readonly string[] } | undefined;
}

export interface ChainLink {
  id: string;
  shelf: Shelf;
  raw: RawTemplate;
  /** `problems` of the latest version of its file. */
  problems: readonly string[];
}

export const CIRCULAR = "Circular inheritance detected";

type ChainResult = { links: ChainLink[] } | { error: string };

/** `findChain` treats `raw` as if it were on `shelf`; it need not be. */
export function findChain(raw: RawTemplate, shelf: Shelf): ChainResult {
  const links: ChainLink[] = [{ id: String(raw["id"]), shelf, raw, problems: [] }];
  for (;;) {
    const child = links.at(-1)!;
    const parentId = child.raw["extends"];
    if (typeof parentId !== "string") return { links };
    const path = [...links.map((link) => link.id), parentId].join(" -> ");
    const extendsItself = parentId === child.id;
    const found = findOutward(parentId, extendsItself ? child.shelf.outer : child.shelf, links);
    if (found === "circular" || (!found && extendsItself)) return { error: `${CIRCULAR}: ${path}` };
    if (!found) return { error: `"extends" names ${JSON.stringify(parentId)}, which does not exist: ${path}` };
    if (!found.raw)
      return { error: `"extends" leads to a template that cannot be used: ${path} (${found.problems.join(" ")})` };
    links.push({ id: parentId, shelf: found.shelf, raw: found.raw, problems: found.problems });
  }
}

/** Checks `links` too, so that `findOutward` finds a cycle through a template that is not stored yet. */
function findOutward(id: string, from: Shelf | null, links: readonly ChainLink[]) {
  for (let shelf = from; shelf; shelf = shelf.outer) {
    if (links.some((link) => link.id === id && link.shelf === shelf)) return "circular";
    const found = shelf.get(id);
    if (found) return { shelf, ...found };
  }
  return undefined;
}
