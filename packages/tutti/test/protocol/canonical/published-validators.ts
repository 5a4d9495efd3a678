// The published schemas, compiled by Ajv, which is independent of the code that generated them.
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { storedSchemas } from "../../../../../scripts/generate-schemas.mjs";
import type { Profile } from "../../../src/protocol/response/profile.ts";
import type { Draft } from "../../../src/protocol/published-schemas.ts";

/**
 * `format` is only an annotation in both drafts, and validators treat it differently. Every format has an equivalent
 * pattern, which the tests of the schemas check, so formats are switched off here.
 */
export const FORMATS = { "date-time": true } as const;

/**
 * Strict: a keyword that Ajv does not know, or that has no effect, is an error. Only a union of types is allowed,
 * because a priority may be a word or a number.
 */
const OPTIONS = { strict: true, allowUnionTypes: true, formats: FORMATS };
const VALIDATORS: Record<Draft, Ajv> = { "draft-07": new Ajv(OPTIONS), "2020-12": new Ajv2020(OPTIONS) };

const stored: Map<string, string> = storedSchemas();
const compiled = new Map<string, (value: unknown) => boolean>();

/**
 * True if the value matches the published schema, for example `fits("mailbox/queue-file", "strict", "draft-07",
 * value)`.
 */
export function fits(name: string, profile: Profile, draft: Draft, value: unknown): boolean {
  return validator(`${draft}/${name}.${profile}.json`, draft)(value);
}

function validator(path: string, draft: Draft): (value: unknown) => boolean {
  const known = compiled.get(path);
  if (known) return known;
  const text = stored.get(path);
  if (text === undefined) throw new Error(`No schema is published as ${path}`);
  const check = VALIDATORS[draft].compile(JSON.parse(text) as Record<string, unknown>);
  const validate = (value: unknown) => check(value);
  compiled.set(path, validate);
  return validate;
}
