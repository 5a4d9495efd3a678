// `unreadableRun` shows a run with an unreadable log as ended with an error, so that the other runs can be opened. Such
// a run can only be removed.
import { fold } from "../../run/apply.ts";
import type { EventData, StoredEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { Template } from "../../schema/template.ts";
import { whyUnreadable } from "../../schema/upcast.ts";

/** Returns an `unreadableRun` if `events` cannot be folded. */
export function foldReadable(id: string, events: readonly StoredEvent[]): Run | null {
  const [why] = events.flatMap(({ data }) => whyUnreadable(data) ?? []);
  if (why !== undefined) return unreadableRun(id, events, why);
  try {
    return fold(null, events);
  } catch (error) {
    return unreadableRun(id, events, (error as Error).message);
  }
}

const prompt = { system: "-" };
const PLACEHOLDER = {
  id: "unreadable",
  name: "Unreadable",
  prompts: { analysis: prompt, taskPlanning: prompt, worker: prompt, aggregation: prompt },
};

function unreadableRun(id: string, events: readonly StoredEvent[], why: string): Run {
  const [first] = events;
  const { runSeq, timestamp } = events.at(-1)!;
  const created = first!.data as Partial<EventData<"orchestrator:created">>;
  const error = `The log of this run cannot be read: ${why}`;
  const time = new Date(timestamp).toISOString();
  const run = fold(null, [
    {
      type: "orchestrator:created",
      data: {
        id,
        templateId: text(created.templateId, PLACEHOLDER.id),
        cwd: text(created.cwd, "/"),
        status: "created",
        template: Template.parse(PLACEHOLDER),
        userRequest: text(created.userRequest, "(cannot be read)"),
        customVariables: {},
        agent: text(created.agent, "local"),
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
