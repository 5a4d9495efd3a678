// `askForHost` adds an inbox item of kind `host`: the task waits, because no worker host offers its labels.
import { addItem } from "./inbox.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { HostLabels } from "../../schema/task.ts";
import type { Worker } from "../../schema/worker.ts";

export const HOST_OPTIONS = [sentence("Keep waiting"), sentence("Cancel the task")];

export function askForHost(run: Run, { taskId, sessionId, task }: Worker, labels: HostLabels, at: number): RunEvent {
  const needed = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const start = `tutti worker --database-url URL ${needed.map((label) => `--label ${label}`).join(" ")}`;
  const question = sentence(
    'Task {taskId} ({title}) waits for a host with {labels}, and none offers that. Start one with "{command}", or cancel the task.',
    { taskId, title: task.title, labels: needed.join(" and "), command: start },
  );
  return addItem(run, { kind: "host", taskId, sessionId, question, options: HOST_OPTIONS, evidence: { labels } }, at);
}
