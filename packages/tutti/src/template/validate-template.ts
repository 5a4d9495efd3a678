// Everything that is wrong or doubtful about a template that somebody wants to use.
import { checkRaw } from "./check-raw.ts";
import { findChain, type Shelf } from "./find-chain.ts";
import { isObject, type RawTemplate } from "./raw-template.ts";
import { resolveTemplate, type Resolution } from "./resolve-template.ts";

export interface Validation {
  valid: boolean;
  errors: string[];
  warnings: string[];
}

export interface Validated {
  validation: Validation;
  /** Both are there if the template is valid. */
  raw?: RawTemplate;
  resolution?: Resolution;
}

/** The value is checked as a template of this shelf would be: first by itself, then with all it inherits. */
export function validateTemplate(value: unknown, shelf: Shelf): Validated {
  const plain = plainCopy(value);
  const checked = checkRaw(plain);
  if ("errors" in checked) return { validation: failed([...checked.errors, ...chainErrors(plain, shelf)]) };
  const resolved = resolveTemplate(checked.raw, shelf);
  if ("errors" in resolved) return { validation: failed(resolved.errors) };
  const { resolution } = resolved;
  return { validation: { valid: true, errors: [], warnings: resolution.warnings }, raw: checked.raw, resolution };
}

/** Whoever corrects a template wants to hear of a wrong parent at the same time as of the rest. */
function chainErrors(plain: unknown, shelf: Shelf): string[] {
  if (!isObject(plain) || typeof plain["id"] !== "string") return [];
  const found = findChain(plain, shelf);
  return "error" in found ? [found.error] : [];
}

const failed = (errors: string[]): Validation => ({ valid: false, errors, warnings: [] });

/** Only what a file could hold; a value that no file could hold is no template. */
function plainCopy(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}
