// `readData` converts events of earlier versions to the current form while they are read. A log is never rewritten, and
// the fold knows only the current form.
import type { z } from "zod";
import { Template } from "./template.ts";

/** New events have `EVENT_VERSION`. Raise it whenever the form of an event changes, and append a step to `STEPS`. */
export const EVENT_VERSION = 4;

type Data = Record<string, unknown>;
type Step = (data: Data) => Data;

const TO_2: Record<string, Step> = {
  "orchestrator:created": (data) => ({ ...data, template: readTemplate(data["template"]) }),
  "orchestrator:tasksReady": (data) => ({ warnings: [], executionOrder: null, ...data }),
  "orchestrator:confirmed": (data) => ({ skipped: {}, ...data }),
  "worker:timeout": (data) => ({ code: "worker_timeout", ...data }),
  "inbox:added": (data) => ({ ...data, item: { risk: "low", hash: "", ...(data["item"] as Data) } }),
};

/** `TO_3` adds `permissions` to templates. */
const TO_3: Record<string, Step> = {
  "orchestrator:created": (data) => ({ ...data, template: readTemplate(data["template"]) }),
};

/** `TO_4` adds `saveInterval` to templates. */
const TO_4: Record<string, Step> = TO_3;

const STEPS: readonly Record<string, Step>[] = [TO_2, TO_3, TO_4];

function upcast(type: string, version: number, data: unknown): unknown {
  return STEPS.slice(version - 1).reduce((current, steps) => {
    const step = Object.hasOwn(steps, type) ? steps[type] : undefined;
    return step ? step(current as Data) : current;
  }, data);
}

/**
 * Returns the data in the current form. If the conversion fails, it returns the stored data with the reason under
 * `UNREADABLE`, so that one unreadable event does not hide the rest of the log.
 */
export function readData(type: string, version: number, data: unknown): unknown {
  try {
    return upcast(type, version, data);
  } catch (error) {
    return { ...(data as Data), [UNREADABLE]: (error as Error).message };
  }
}

const UNREADABLE = "unreadable";

/** Returns why `readData` could not convert the event, or null if it could. */
export function whyUnreadable(data: unknown): string | null {
  const why = (data as Data)[UNREADABLE];
  return typeof why === "string" ? why : null;
}

/** Drops members that earlier versions allowed and `Template` rejects, such as lowercase variable names. */
function readTemplate(value: unknown): Template {
  const template = structuredClone(value);
  for (;;) {
    const parsed = Template.safeParse(template);
    if (parsed.success) return parsed.data;
    const dropped = parsed.error.issues.filter((issue) => drop(template, issue));
    if (dropped.length > 0) continue;
    const [issue] = parsed.error.issues;
    throw new Error(`the template has an invalid "${issue!.path.join(".")}": ${issue!.message}`);
  }
}

/** Removes the members that `issue` names and returns whether there were any. */
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
