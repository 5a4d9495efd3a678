import { createHash } from "node:crypto";
import { findWeakenings } from "./check/check-gate.ts";
import { checkResolved } from "./check/check-resolved.ts";
import { findChain, type ChainLink, type Shelf } from "./find-chain.ts";
import { findWarnings } from "./check/find-warnings.ts";
import { inherit, leavesOf, type Origins } from "./inherit.ts";
import type { RawTemplate } from "./raw-template.ts";
import { Template } from "../schema/template.ts";

/** The `provenance` of a value that no template of the chain sets. */
const FROM_DEFAULT = "(default)";

export interface Resolution {
  template: Template;
  place: Shelf["name"];
  /** The template and its ancestors, child first. A repeated id gets its place as a suffix: `a@system`. */
  chain: string[];
  places: Shelf["name"][];
  /**
   * The origin of every value that is not an object, by a path such as `/config/maxWorkers`: a name of `chain`, or
   * `FROM_DEFAULT`.
   */
  provenance: Record<string, string>;
  warnings: string[];
  /** `replaced` are templates of a project in `chain` that have the id of a template outside the project. */
  replaced: { id: string; place: Shelf["name"]; digest: string }[];
  /** `outer` is the template without those of a project, before defaults. Empty if all of `chain` are of a project. */
  outer: RawTemplate;
}

type ResolveResult = { resolution: Resolution } | { errors: string[] };

export function resolveTemplate(raw: RawTemplate, shelf: Shelf): ResolveResult {
  const found = findChain(raw, shelf);
  if ("error" in found) return { errors: [found.error] };
  const names = nameLinks(found.links);
  const merged = inherit(found.links.map((link, at) => ({ name: names[at]!, raw: link.raw })));
  const checked = checkResolved(merged.raw);
  if ("errors" in checked) return checked;
  const { template } = checked;
  const weakened = weakenings(found.links, template);
  if (weakened.length > 0) return { errors: weakened };
  const resolution: Resolution = {
    template,
    place: shelf.name,
    chain: names,
    places: found.links.map((link) => link.shelf.name),
    provenance: provenanceOf(template, merged.origins),
    warnings: [...warnOfFiles(found.links), ...findWarnings(template)],
    replaced: found.links.flatMap(replacedBy),
    outer: inherit(found.links.filter(isOuter).map(({ id, raw: own }) => ({ name: id, raw: own }))).raw,
  };
  return { resolution };
}

/** Compares the template with each of its ancestors that has a pipeline. */
function weakenings(links: readonly ChainLink[], template: Template): string[] {
  if (!links.some(({ raw }) => raw["pipeline"] !== undefined)) return [];
  const found = links.slice(1).flatMap((_, at) => {
    const ancestor = Template.safeParse(inherit(links.slice(at + 1).map(({ id, raw }) => ({ name: id, raw }))).raw);
    return ancestor.success ? findWeakenings(ancestor.data, template) : [];
  });
  return [...new Set(found)];
}

function replacedBy({ id, shelf, raw }: ChainLink): Resolution["replaced"] {
  if (shelf.name !== "project") return [];
  for (let outer = shelf.outer; outer; outer = outer.outer) {
    if (outer.get(id)) return [{ id, place: outer.name, digest: digestOf(raw) }];
  }
  return [];
}

const digestOf = (raw: RawTemplate): string => createHash("sha256").update(JSON.stringify(raw)).digest("hex");

const isOuter = ({ shelf }: ChainLink): boolean => shelf.name !== "project";

/** Uses the id, unless another template of the chain has the same id. */
function nameLinks(links: readonly ChainLink[]): string[] {
  const names: string[] = [];
  for (const { id, shelf } of links) {
    let name = names.includes(id) ? `${id}@${shelf.name}` : id;
    // Two shelves are both `system` if system templates come from two folders.
    while (names.includes(name)) name += "@";
    names.push(name);
  }
  return names;
}

function provenanceOf(template: Template, origins: Origins): Record<string, string> {
  return Object.fromEntries(leavesOf(template).map(([path]) => [path, originOf(path, origins)]));
}

function originOf(path: string, origins: Origins): string {
  // A hook that is a string is short for an object with the member `run`.
  const short = path.match(/^(\/hooks\/[^/]+)\/run$/)?.[1];
  return origins.get(path) ?? (short === undefined ? undefined : origins.get(short)) ?? FROM_DEFAULT;
}

function warnOfFiles(links: readonly ChainLink[]): string[] {
  return links.flatMap(({ problems }) =>
    problems.map(
      (problem) => `An earlier version of a template is in use, because the latest has an error: ${problem}`,
    ),
  );
}
