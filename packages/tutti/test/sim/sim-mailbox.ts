// The mailbox of a run on a machine that outlives engines. Like the files, a box keeps what was written before a crash.
import type { Effects } from "./effects.ts";
import type { Machine } from "./machine.ts";
import { reactOutside } from "./outside-agent.ts";
import type { Mail, TeamMailbox } from "../../src/engine/mailboxes/run-mailbox.ts";
import { canonicalJson } from "../../src/protocol/json/canonical-json.ts";
import { leadOfRun, messageTo } from "../../src/run/team/team.ts";
import { boxOf } from "../../src/schema/team/roles.ts";
import type { Run } from "../../src/schema/run.ts";
import type { Worker } from "../../src/schema/worker.ts";

export interface Box {
  messages: Record<string, unknown>[];
  lastRead: string | null;
}

export const simMailbox = (machine: Machine, effects: Effects, { id }: Run): TeamMailbox => ({
  folder: `/mailboxes/${id}`,
  reportTo: () => `/mailboxes/${id}/to-team-lead.json`,
  put: (run, worker) => effects.act(`mail for ${worker.taskId}`, () => put(machine, run, worker)),
  read: (run, worker) => effects.act(`mail of ${worker.taskId}`, () => read(machine, run, worker)),
  sync: async () => {},
  open: async () => {},
  remove: () => machine.boxes.clear(),
});

function put(machine: Machine, run: Run, worker: Worker): void {
  const { sessionId, taskId, task } = worker;
  const message = messageTo(run, sessionId);
  if (message?.type !== "task_assignment") return;
  const { messages } = machine.boxOf(run.id, boxOf(task.role!));
  const text = canonicalJson(message.body);
  if (messages.some((each) => canonicalJson(each) === text)) return;
  // Mail of an earlier attempt is about another workspace.
  const reports = machine.boxOf(run.id, boxOf(leadOfRun(run)!));
  if (!("rejectionReason" in message.body))
    reports.messages = reports.messages.filter((each) => each["taskId"] !== taskId);
  messages.push(message.body);
  reactOutside(machine, run, worker, message.body);
}

function read(machine: Machine, run: Run, { taskId, sessionId, task }: Worker): Mail {
  const known = (run.teamMessages ?? []).map(({ body }) => canonicalJson(body));
  const entries = machine
    .boxOf(run.id, boxOf(leadOfRun(run)!))
    .messages.filter((each) => each["taskId"] === taskId && !known.includes(canonicalJson(each)));
  const { lastRead } = machine.boxOf(run.id, boxOf(task.role!));
  const since = messageTo(run, sessionId)?.body["timestamp"];
  return { entries, hasRead: typeof since === "string" && lastRead !== null && lastRead >= since };
}
