import { CIRCULAR } from "../find-chain.ts";
import type { PlacedTemplate } from "../files/place.ts";
import { TuttiError } from "../../schema/error.ts";

export function noSuchTemplate(id: string, known: readonly string[]): TuttiError {
  return new TuttiError(
    "template_not_found",
    `Template ${JSON.stringify(id)} does not exist. Choose one of ${known.join(", ")}.`,
  );
}

export function templateUnusable({ id, errors }: Pick<PlacedTemplate, "id" | "errors">): TuttiError {
  // Document 004 fixes the text of `CIRCULAR`.
  const circular = errors.length === 1 && errors[0]!.startsWith(CIRCULAR) ? errors[0] : undefined;
  const message = circular ?? `Template ${JSON.stringify(id)} cannot be used: ${errors.join(" ")}`;
  return new TuttiError("invalid_template", message, { details: { errors } });
}

export function invalidTemplate(errors: readonly string[]): TuttiError {
  return new TuttiError("invalid_template", `Invalid template: ${errors.join(" ")}`, { details: { errors } });
}

export function templateProtected(id: string): TuttiError {
  const message = `Template ${JSON.stringify(id)} is a system template and cannot be changed. Duplicate it and change the copy.`;
  return new TuttiError("template_protected", message);
}

export function templateExists(id: string, where: string): TuttiError {
  return new TuttiError(
    "template_exists",
    `Template ${JSON.stringify(id)} already exists in ${where}. Choose another id.`,
  );
}

export function templateInUse(id: string, by: readonly string[]): TuttiError {
  const message = `Template ${JSON.stringify(id)} cannot be deleted, because others extend it. Delete these first: ${by.join(", ")}.`;
  return new TuttiError("template_in_use", message, { details: { extendedBy: by } });
}
