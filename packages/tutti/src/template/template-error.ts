// The refusals of the library, in one place, so that every way to a template words them alike.
import { CIRCULAR } from "./find-chain.ts";
import type { Placed } from "./place.ts";
import { TuttiError } from "../schema/error.ts";

export function noSuchTemplate(id: string, known: readonly string[]): TuttiError {
  return new TuttiError(
    "template_not_found",
    `there is no template ${JSON.stringify(id)}; known are ${known.join(", ")}`,
  );
}

export function cannotBeUsed({ id, errors }: Pick<Placed, "id" | "errors">): TuttiError {
  // That text is documented as it stands.
  const circular = errors.length === 1 && errors[0]!.startsWith(CIRCULAR) ? errors[0] : undefined;
  const message = circular ?? `template ${JSON.stringify(id)} cannot be used: ${errors.join(" ")}`;
  return new TuttiError("invalid_template", message, { details: { errors } });
}

export function invalid(errors: readonly string[]): TuttiError {
  return new TuttiError("invalid_template", `Invalid template: ${errors.join(" ")}`, { details: { errors } });
}

export function isProtected(id: string): TuttiError {
  const message = `${JSON.stringify(id)} is a system template, which cannot be changed; duplicate it and change the copy`;
  return new TuttiError("template_protected", message);
}

export function isThere(id: string, where: string): TuttiError {
  return new TuttiError("template_exists", `there is a template ${JSON.stringify(id)} already: ${where}`);
}

export function isExtended(id: string, by: readonly string[]): TuttiError {
  const message = `${JSON.stringify(id)} cannot be deleted, because other templates extend it: ${by.join(", ")}`;
  return new TuttiError("template_in_use", message, { details: { extendedBy: by } });
}
