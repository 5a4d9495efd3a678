import { checkRaw } from "./check-raw.ts";
import { findChain, type Shelf } from "../find-chain.ts";
import { isObject, type RawTemplate } from "../raw-template.ts";
import { resolveTemplate, type Resolution } from "../resolve-template.ts";

export interface Validation {
  valid: boolean;
  errors: string[];
  warnings: string[];
}

interface Validated {
  validation: Validation;
  /** `raw` and `resolution` are set if the template is valid. */
  raw?: RawTemplate;
  resolution?: Resolution;
}

/** Validates `value` by itself with `checkRaw`, then with its ancestors on `shelf`. */
export function validateTemplate(value: unknown, shelf: Shelf): Validated {
  const plain = plainCopy(value);
  const checked = checkRaw(plain);
  if ("errors" in checked) return { validation: failed([...checked.errors, ...chainErrors(plain, shelf)]) };
  const resolved = resolveTemplate(checked.raw, shelf);
  if ("errors" in resolved) return { validation: failed(resolved.errors) };
  const { resolution } = resolved;
  return { validation: { valid: true, errors: [], warnings: resolution.warnings }, raw: checked.raw, resolution };
}

/** With `chainErrors` the user sees a wrong parent together with the other errors and can correct all at once. */
function chainErrors(plain: unknown, shelf: Shelf): string[] {
  if (!isObject(plain) || typeof plain["id"] !== "string") return [];
  const found = findChain(plain, shelf);
  return "error" in found ? [found.error] : [];
}

const failed = (errors: string[]): Validation => ({ valid: false, errors, warnings: [] });

/** `plainCopy` has only what a JSON file can hold, and is undefined if `value` cannot be JSON. */
function plainCopy(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}
