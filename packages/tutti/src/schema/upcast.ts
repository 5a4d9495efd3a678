// Events of earlier versions, read as if they had been written today. A log is never rewritten: whoever reads an old
// event gets it in today's form, and the fold knows only that form.
import type { z } from "zod";
import { Template } from "./template.ts";

/** The version that is written. Raised whenever the form of an event changes; steps are only ever added. */
export const EVENT_VERSION = 4;

type Data = Record<string, unknown>;
type Step = (data: Data) => Data;

/** From version 1 to 2: templates got more settings, plans got warnings, items got a hash, timeouts got a code. */
const TO_2: Record<string, Step> = {
  "orchestrator:created": (data) => ({ ...data, template: readTemplate(data["template"]) }),
  "orchestrator:tasksReady": (data) => ({ warnings: [], executionOrder: null, ...data }),
  "orchestrator:confirmed": (data) => ({ skipped: {}, ...data }),
  "worker:timeout": (data) => ({ code: "worker_timeout", ...data }),
  "inbox:added": (data) => ({ ...data, item: { risk: "low", hash: "", ...(data["item"] as Data) } }),
};

/** From version 2 to 3: templates say what agents may do without asking. */
const TO_3: Record<string, Step> = {
  "orchestrator:created": (data) => ({ ...data, template: readTemplate(data["template"]) }),
};

/** From version 3 to 4: templates say how often work is saved. */
const TO_4: Record<string, Step> = TO_3;

const STEPS: readonly Record<string, Step>[] = [TO_2, TO_3, TO_4];

function upcast(type: string, version: number, data: unknown): unknown {
  return STEPS.slice(version - 1).reduce((before, steps) => {
    const step = Object.hasOwn(steps, type) ? steps[type] : undefined;
    return step ? step(before as Data) : before;
  }, data);
}

/**
 * An event of the log in today's form. One that has none is handed on as it was written, with the reason: a log of which
 * one event cannot be read must not hide all the others.
 */
export function readData(type: string, version: number, data: unknown): unknown {
  try {
    return upcast(type, version, data);
  } catch (error) {
    return { ...(data as Data), [UNREADABLE]: (error as Error).message };
  }
}

const UNREADABLE = "unreadable";

/** Why an event that was read has no form of today; null for every other. */
export function whyUnreadable(data: unknown): string | null {
  const why = (data as Data)[UNREADABLE];
  return typeof why === "string" ? why : null;
}

/** Earlier versions allowed what is refused today, such as variables in small letters: that is left out, member by member. */
function readTemplate(value: unknown): Template {
  const template = structuredClone(value);
  for (;;) {
    const parsed = Template.safeParse(template);
    if (parsed.success) return parsed.data;
    const dropped = parsed.error.issues.filter((issue) => drop(template, issue));
    if (dropped.length > 0) continue;
    const [issue] = parsed.error.issues;
    throw new Error(`the template's ${issue!.path.join(".")} is not as expected: ${issue!.message}`);
  }
}

/** Whether there was something to leave out. */
function drop(template: unknown, issue: z.core.$ZodIssue): boolean {
  if (issue.code === "unrecognized_keys") {
    const dropped = issue.keys.filter((key) => removeAt(template, [...issue.path, key]));
    return dropped.length > 0;
  }
  return removeAt(template, issue.path);
}

function removeAt(value: unknown, path: readonly PropertyKey[]): boolean {
  const name = path.at(-1);
  const owner = path.slice(0, -1).reduce<unknown>((inner, key) => memberOf(inner, key), value);
  if (name === undefined || memberOf(owner, name) === undefined) return false;
  if (Array.isArray(owner)) owner.splice(Number(name), 1);
  else delete (owner as Record<PropertyKey, unknown>)[name];
  return true;
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;
