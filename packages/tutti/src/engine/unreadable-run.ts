// A run whose log cannot be read any more. It must not keep the others from being opened, so it is shown for what it is:
// over, with an error that says why. Nothing goes on in it; it can be removed.
import { fold } from "../run/apply.ts";
import type { EventData, StoredEvent } from "../schema/event.ts";
import type { Run } from "../schema/run.ts";
import { Template } from "../schema/template.ts";
import { whyUnreadable } from "../schema/upcast.ts";

/** The state that the events fold to, or one that says why they do not. */
export function foldReadable(id: string, events: readonly StoredEvent[]): Run | null {
  const [why] = events.flatMap(({ data }) => whyUnreadable(data) ?? []);
  if (why !== undefined) return unreadableRun(id, events, why);
  try {
    return fold(null, events);
  } catch (error) {
    return unreadableRun(id, events, (error as Error).message);
  }
}

const words = { system: "-" };
const STAND_IN = {
  id: "unreadable",
  name: "Unreadable",
  prompts: { analysis: words, taskPlanning: words, worker: words, aggregation: words },
};

function unreadableRun(id: string, events: readonly StoredEvent[], why: string): Run {
  const [first] = events;
  const { runSeq, timestamp } = events.at(-1)!;
  const told = first!.data as Partial<EventData<"orchestrator:created">>;
  const error = `its log cannot be read: ${why}`;
  const time = new Date(timestamp).toISOString();
  const run = fold(null, [
    {
      type: "orchestrator:created",
      data: {
        id,
        templateId: text(told.templateId, STAND_IN.id),
        cwd: text(told.cwd, "/"),
        status: "created",
        template: Template.parse(STAND_IN),
        userRequest: text(told.userRequest, "(cannot be read)"),
        customVariables: {},
        agent: text(told.agent, "local"),
      },
      runSeq: 1,
      timestamp: first!.timestamp,
    },
    {
      type: "orchestrator:error",
      data: { id, operation: "read", error, timestamp: time, fatal: true, code: "storage_failed" },
      runSeq,
      timestamp,
    },
    { type: "workspace:released", data: { id }, runSeq, timestamp },
  ]);
  return run!;
}

const text = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
