// What must hold before a template is written or deleted. Nothing here touches a file.
import type { Shelf } from "./find-chain.ts";
import { merge } from "./inherit.ts";
import type { Placed, TemplatePlace } from "./place.ts";
import { findUnsafe, isObject, MAX_TEMPLATE_BYTES, type RawTemplate } from "./raw-template.ts";
import { resolveTemplate } from "./resolve-template.ts";
import { cannotBeUsed, invalid, isExtended, isProtected, isThere } from "./template-error.ts";
import { validateTemplate } from "./validate-template.ts";
import { TuttiError } from "../schema/error.ts";

/**
 * An id is given once. The one exception is a template of a project that extends its own id: it refines the one further
 * out, for this project only.
 */
export function mustNotBeTaken(value: unknown, place: TemplatePlace): void {
  const id = isObject(value) ? value["id"] : undefined;
  if (!isObject(value) || typeof id !== "string") return;
  const taken = place.find(id);
  if (!taken) return;
  const refines = place.name === "project" && taken.place !== place && value["extends"] === id;
  if (refines) return;
  throw taken.place.name === "system" ? isProtected(id) : isThere(id, taken.file.path);
}

/** The plain template, or a refusal with everything that is wrong. */
export function mustFit(value: unknown, shelf: Shelf): RawTemplate {
  const { validation, raw } = validateTemplate(value, shelf);
  if (!raw) throw invalid(validation.errors);
  if (Buffer.byteLength(JSON.stringify(raw, null, 2)) >= MAX_TEMPLATE_BYTES)
    throw invalid([`A template must be at most ${MAX_TEMPLATE_BYTES} bytes long.`]);
  return raw;
}

/** What the file is to hold after the patch. Those that extend the template must stay usable. */
export function patched(placed: Placed, patch: unknown): RawTemplate {
  const { id, place, file } = placed;
  if (!isObject(patch)) throw new TuttiError("invalid_input", "what changes in a template must be a JSON object");
  const unsafe = findUnsafe(patch);
  if (unsafe.length > 0) throw invalid(unsafe);
  if (patch["id"] !== undefined && patch["id"] !== id)
    throw new TuttiError("invalid_input", `the id of a template cannot change; it is ${JSON.stringify(id)}`);
  // The person's unfinished edit must not be lost under an older version.
  if (!file.raw || file.problems.length > 0) throw cannotBeUsed(placed);
  const raw = mustFit(merge(file.raw, patch), place);
  const broken = brokenBy(raw, place);
  if (broken.length > 0) throw invalid(broken);
  return raw;
}

function brokenBy(raw: RawTemplate, place: TemplatePlace): string[] {
  const changed: Shelf = {
    name: place.name,
    outer: place.outer,
    get: (id) => (id === raw["id"] ? { raw, problems: [] } : place.get(id)),
  };
  return place.all.flatMap((other) => {
    if (!other.raw || other.id === raw["id"] || other.errors.length > 0) return [];
    const result = resolveTemplate(other.raw, changed);
    return "errors" in result
      ? [`${JSON.stringify(other.id)}, which extends it, could not be used any more: ${result.errors.join(" ")}`]
      : [];
  });
}

/** `nearest` is where the search for those that extend it begins. */
export function mustNotBeExtended(placed: Placed, nearest: TemplatePlace): void {
  const by: string[] = [];
  for (let place: TemplatePlace | null = nearest; place; place = place.outer) {
    for (const other of place.all) if (isParent(placed, other)) by.push(other.id);
  }
  if (by.length > 0) throw isExtended(placed.id, by);
}

function isParent(parent: Placed, { id, raw, place }: Placed): boolean {
  if (raw?.["extends"] !== parent.id) return false;
  const from = id === parent.id ? place.outer : place;
  return from?.find(parent.id) === parent;
}
