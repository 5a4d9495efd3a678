// Events of earlier versions, read as if they had been written today. A log is never rewritten: whoever reads an old
// event gets it in today's form, and the fold knows only that form.
import { Template } from "./template.ts";

/** The version that is written. Raised whenever the form of an event changes; steps are only ever added. */
export const EVENT_VERSION = 2;

type Data = Record<string, unknown>;
type Step = (data: Data) => Data;

/** From version 1 to 2: templates got more settings, plans got warnings, items got a hash, timeouts got a code. */
const TO_2: Record<string, Step> = {
  "orchestrator:created": (data) => ({ ...data, template: Template.parse(data["template"]) }),
  "orchestrator:tasksReady": (data) => ({ warnings: [], executionOrder: null, ...data }),
  "orchestrator:confirmed": (data) => ({ skipped: {}, ...data }),
  "worker:timeout": (data) => ({ code: "worker_timeout", ...data }),
  "inbox:added": (data) => ({ ...data, item: { risk: "low", hash: "", ...(data["item"] as Data) } }),
};

const STEPS: readonly Record<string, Step>[] = [TO_2];

export function upcast(type: string, version: number, data: unknown): unknown {
  return STEPS.slice(version - 1).reduce((before, steps) => {
    const step = Object.hasOwn(steps, type) ? steps[type] : undefined;
    return step ? step(before as Data) : before;
  }, data);
}
