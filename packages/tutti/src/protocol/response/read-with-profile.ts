// Reads one message with a pair of schemas. A deviation that `strict` rejects and `lenient` accepts becomes a warning,
// so no separate list of unusual forms is needed.
import { z } from "zod";
import { describeIssue } from "./describe-issue.ts";
import { isDeeper, isRecord, withoutProto } from "../json/json-value.ts";
import { problem, type ProfileProblem, type Profile, type ProfileReading, type ProfileOptions } from "./profile.ts";
import { pathText } from "../../explain-issue.ts";

export interface SchemaPair<L> {
  strict: z.ZodObject;
  lenient: z.ZodType<L>;
  /** Other words for a listed value, by the path of the member: `{ result: { completed: "success" } }`. */
  aliases?: Record<string, Record<string, string>>;
  /** The name of the member with the creation time, if the message has one. */
  timestamp?: string;
  /** Values for missing members under `lenient`, used where the kind of message determines the value. */
  defaults?: Record<string, unknown>;
}

/** No message is nested deeper than `DEEPEST`, and deeper nesting could overflow the stack of recursive readers. */
const DEEPEST = 100;

export function readWithProfile<L>(value: unknown, schemas: SchemaPair<L>, options: ProfileOptions): ProfileReading<L> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  if (!isRecord(value)) throw new TypeError("A readable message is an object");
  return options.profile === "strict" ? readStrict(value, schemas) : readLenient(value, schemas, options.receivedAt);
}

/** Null if `value` is an object that is not nested too deeply. */
export function whyUnreadable(value: unknown): ProfileProblem | null {
  if (!isRecord(value)) return problem("error", "not_an_object", "", "A message must be a JSON object.");
  if (!isDeeper(value, DEEPEST)) return null;
  return problem("error", "too_deep", "", `A message must not be nested more than ${DEEPEST} levels deep.`);
}

function readStrict<L>(value: Record<string, unknown>, schemas: SchemaPair<L>): ProfileReading<L> {
  const checked = schemas.strict.safeParse(value);
  const problems = (checked.error?.issues ?? []).map((issue) => describeIssue(issue, value, "error"));
  for (const path of unknownMembers(schemas.strict, value, [])) {
    problems.push(problem("warning", "unknown_member", path, `"${path}" is not a member of this message.`));
  }
  return { message: checked.success ? (checked.data as L) : null, problems };
}

function readLenient<L>(value: Record<string, unknown>, schemas: SchemaPair<L>, receivedAt: string): ProfileReading<L> {
  const copy = structuredClone(value);
  withoutProto(copy, "__proto__");
  const problems = [
    ...foldNames(copy, Object.keys(schemas.strict.shape)),
    ...foldValues(copy, schemas),
    ...fillGaps(copy, schemas.defaults ?? {}),
    ...stamp(copy, schemas.timestamp, receivedAt),
  ];
  const lenient = schemas.lenient.safeParse(copy);
  const errors = lenient.error?.issues ?? [];
  problems.push(...errors.map((issue) => describeIssue(issue, copy, "error")));
  const wrong = new Set(errors.map((issue) => pathText(issue.path)));
  for (const issue of schemas.strict.safeParse(copy).error?.issues ?? []) {
    if (!wrong.has(pathText(issue.path))) problems.push(describeIssue(issue, copy, "warning"));
  }
  return { message: lenient.data ?? null, problems };
}

/** Reads `task_id`, `taskid` and `TaskId` as `taskId` if that member is missing, and vice versa. */
function foldNames(copy: Record<string, unknown>, known: string[]): ProfileProblem[] {
  const byFold = new Map(known.map((name) => [fold(name), name]));
  const problems: ProfileProblem[] = [];
  for (const name of Object.keys(copy)) {
    const wanted = byFold.get(fold(name));
    if (wanted === undefined || wanted === name || Object.hasOwn(copy, wanted)) continue;
    copy[wanted] = copy[name];
    delete copy[name];
    problems.push(problem("warning", "alias", wanted, `"${name}" was read as "${wanted}".`));
  }
  return problems;
}

/** Replaces other spellings and `aliases` of listed values, and removes null members that the schema rejects. */
function foldValues<L>(copy: Record<string, unknown>, { strict, aliases }: SchemaPair<L>): ProfileProblem[] {
  const problems: ProfileProblem[] = [];
  for (const issue of strict.safeParse(copy).error?.issues ?? []) {
    const path = pathText(issue.path);
    const located = locate(copy, issue.path);
    if (!located) continue;
    const { holder, name } = located;
    const value = holder[name];
    if (value === null) {
      delete holder[name];
    } else if (issue.code === "invalid_value" && typeof value === "string") {
      const known = Object.entries(aliases?.[path] ?? {}).find(([alias]) => fold(alias) === fold(value))?.[1];
      const word = known ?? issue.values.find((each) => typeof each === "string" && fold(each) === fold(value));
      if (typeof word !== "string") continue;
      holder[name] = word;
      problems.push(problem("warning", "alias", path, `"${path}": ${JSON.stringify(value)} was read as "${word}".`));
    }
  }
  return problems;
}

function fillGaps(copy: Record<string, unknown>, defaults: Record<string, unknown>): ProfileProblem[] {
  const problems: ProfileProblem[] = [];
  for (const [name, value] of Object.entries(defaults)) {
    if (Object.hasOwn(copy, name)) continue;
    copy[name] = structuredClone(value);
    const sentence = `"${name}" is missing; the default is ${JSON.stringify(value)}.`;
    problems.push(problem("warning", "missing", name, sentence));
  }
  return problems;
}

/** Sets the missing member `name` of `copy` to the time of arrival. */
export function stamp(copy: Record<string, unknown>, name: string | undefined, receivedAt: string): ProfileProblem[] {
  if (name === undefined || (copy[name] !== undefined && copy[name] !== "")) return [];
  copy[name] = receivedAt;
  return [problem("warning", "stamped", name, `"${name}" is missing; the time of arrival, ${receivedAt}, is used.`)];
}

/** Returns the member of that name. Under `lenient`, capitals and separators do not matter. */
export function memberNamed(value: unknown, name: string, profile: Profile): unknown {
  if (!isRecord(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const other = profile === "strict" ? undefined : Object.keys(value).find((each) => fold(each) === fold(name));
  return other === undefined ? undefined : value[other];
}

/** Removes capitals and separators, so that different spellings of a name become equal. */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, "");
}

function locate(
  root: unknown,
  path: readonly PropertyKey[],
): { holder: Record<PropertyKey, unknown>; name: PropertyKey } | null {
  const name = path.at(-1);
  let holder = root;
  for (const key of path.slice(0, -1)) {
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return null;
    holder = Reflect.get(holder, key);
  }
  if (name === undefined || !isRecord(holder) || !Object.hasOwn(holder, name)) return null;
  return { holder, name };
}

function unknownMembers(schema: z.ZodType, value: unknown, path: PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unknownMembers(schema.unwrap() as z.ZodType, value, path);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((each, index) => unknownMembers(schema.element as z.ZodType, each, [...path, index]));
  }
  if (!(schema instanceof z.ZodObject) || !isRecord(value)) return [];
  const shape: Record<string, z.ZodType> = schema.shape;
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return known ? unknownMembers(known, member, [...path, name]) : [pathText([...path, name])];
  });
}
