import type { Shelf } from "./find-chain.ts";
import { merge } from "./inherit.ts";
import type { PlacedTemplate, TemplatePlace } from "./files/place.ts";
import { isObject, findUnsafe, MAX_TEMPLATE_BYTES, type RawTemplate } from "./raw-template.ts";
import { resolveTemplate } from "./resolve-template.ts";
import {
  templateUnusable,
  invalidTemplate,
  templateInUse,
  templateProtected,
  templateExists,
} from "./check/template-error.ts";
import { validateTemplate } from "./check/validate-template.ts";
import { TuttiError } from "../schema/error.ts";

/** Throws if the id is in use, unless a template of a project extends its own id to refine the outer template. */
export function mustNotBeTaken(value: unknown, place: TemplatePlace): void {
  const id = isObject(value) ? value["id"] : undefined;
  if (!isObject(value) || typeof id !== "string") return;
  const existing = place.find(id);
  if (!existing) return;
  const refines = place.name === "project" && existing.place !== place && value["extends"] === id;
  if (refines) return;
  throw existing.place.name === "system" ? templateProtected(id) : templateExists(id, existing.file.path);
}

/** Returns the validated template; `mustFit` throws with all errors otherwise. */
export function mustFit(value: unknown, shelf: Shelf): RawTemplate {
  const { validation, raw } = validateTemplate(value, shelf);
  if (!raw) throw invalidTemplate(validation.errors);
  if (Buffer.byteLength(JSON.stringify(raw, null, 2)) >= MAX_TEMPLATE_BYTES)
    throw invalidTemplate([`A template must be at most ${MAX_TEMPLATE_BYTES} bytes long.`]);
  return raw;
}

/** Returns the content of the file after `patch`. Throws if a template that extends it would become unusable. */
export function patched(placed: PlacedTemplate, patch: unknown): RawTemplate {
  const { id, place, file } = placed;
  if (!isObject(patch))
    throw new TuttiError(
      "invalid_input",
      "The changes to a template are not a JSON object. Pass an object with the members to change.",
    );
  const unsafe = findUnsafe(patch);
  if (unsafe.length > 0) throw invalidTemplate(unsafe);
  if (patch["id"] !== undefined && patch["id"] !== id)
    throw new TuttiError("invalid_input", `The id of template ${JSON.stringify(id)} cannot be changed. Omit "id".`);
  // `file.raw` is an older version while there are `problems`. It must not overwrite an unfinished edit of the user.
  if (!file.raw || file.problems.length > 0) throw templateUnusable(placed);
  const raw = mustFit(merge(file.raw, patch), place);
  const broken = brokenBy(raw, place);
  if (broken.length > 0) throw invalidTemplate(broken);
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
      ? [`The change breaks ${JSON.stringify(other.id)}, which extends this template: ${result.errors.join(" ")}`]
      : [];
  });
}

/** Throws if another template extends this one. The search starts at `nearest` and goes outward. */
export function mustNotBeExtended(placed: PlacedTemplate, nearest: TemplatePlace): void {
  const children: string[] = [];
  for (let place: TemplatePlace | null = nearest; place; place = place.outer) {
    for (const other of place.all) if (isParent(placed, other)) children.push(other.id);
  }
  if (children.length > 0) throw templateInUse(placed.id, children);
}

function isParent(parent: PlacedTemplate, { id, raw, place }: PlacedTemplate): boolean {
  if (raw?.["extends"] !== parent.id) return false;
  const from = id === parent.id ? place.outer : place;
  return from?.find(parent.id) === parent;
}
