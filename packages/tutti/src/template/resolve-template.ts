// From a raw template and the places where its parents are to the template that a run is carried out with.
import { checkResolved } from "./check-resolved.ts";
import { findChain, type Link, type Shelf } from "./find-chain.ts";
import { findWarnings } from "./find-warnings.ts";
import { inherit, leavesOf, type Origins } from "./inherit.ts";
import type { RawTemplate } from "./raw-template.ts";
import type { Template } from "../schema/template.ts";

/** What stands for a template where no template of the chain says anything. */
export const FROM_DEFAULT = "(default)";

export interface Resolution {
  template: Template;
  place: Shelf["name"];
  /** The template and its ancestors, child first. A second one of the same id is named with its place: `a@system`. */
  chain: string[];
  /** Where each of the chain is. */
  places: Shelf["name"][];
  /** For every value that is not an object, by a path such as `/config/maxWorkers`: a name of the chain, or the default. */
  provenance: Record<string, string>;
  warnings: string[];
}

export type ResolveResult = { resolution: Resolution } | { errors: string[] };

export function resolveTemplate(raw: RawTemplate, shelf: Shelf): ResolveResult {
  const found = findChain(raw, shelf);
  if ("error" in found) return { errors: [found.error] };
  const names = nameLinks(found.links);
  const merged = inherit(found.links.map((link, at) => ({ name: names[at]!, raw: link.raw })));
  const checked = checkResolved(merged.raw);
  if ("errors" in checked) return checked;
  const { template } = checked;
  const resolution: Resolution = {
    template,
    place: shelf.name,
    chain: names,
    places: found.links.map((link) => link.shelf.name),
    provenance: provenanceOf(template, merged.origins),
    warnings: [...warnOfFiles(found.links), ...findWarnings(template)],
  };
  return { resolution };
}

/** Ids name a link as long as no two of the chain have the same. */
function nameLinks(links: readonly Link[]): string[] {
  const names: string[] = [];
  for (const { id, shelf } of links) {
    let name = names.includes(id) ? `${id}@${shelf.name}` : id;
    // There can be two places of one name, when system templates come from two folders.
    while (names.includes(name)) name += "@";
    names.push(name);
  }
  return names;
}

function provenanceOf(template: Template, origins: Origins): Record<string, string> {
  return Object.fromEntries(leavesOf(template).map(([path]) => [path, originOf(path, origins)]));
}

function originOf(path: string, origins: Origins): string {
  // A hook that is only a text is the short form of an object with the member `run`.
  const short = path.match(/^(\/hooks\/[^/]+)\/run$/)?.[1];
  return origins.get(path) ?? (short === undefined ? undefined : origins.get(short)) ?? FROM_DEFAULT;
}

function warnOfFiles(links: readonly Link[]): string[] {
  return links.flatMap(({ problems }) =>
    problems.map(
      (problem) => `An earlier version of a template is in use, because the newest has an error: ${problem}`,
    ),
  );
}
