// `KEYS` steer a run in the terminal that follows it. Each acts at once, without Enter.
import { askItem, type AskOptions } from "./ask-item.ts";
import { describeTask } from "../terminal/describe.ts";
import { openBrowser } from "../terminal/open-browser.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { isOfMain } from "../../run/inbox/inbox.ts";
import { TuttiError } from "../../schema/error.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { isWorkerOver, type WorkerStatus } from "../../schema/status.ts";
import type { Task } from "../../schema/task.ts";

type KeyAction = (options: AskOptions, run: Run) => Promise<unknown>;

const KEYS: readonly [key: string, word: string, effect: string, act: KeyAction][] = [
  ["p", "pause", "pause the run, or resume it", pauseOrResume],
  ["m", "message", "send a message to the main session or a worker", sendMessage],
  ["a", "answer", "answer a question", answerQuestion],
  ["r", "retry", "retry a task that did not complete", retryTask],
  ["c", "cancel", "cancel the run for good", cancelRun],
  ["d", "details", "show a task in full", showTask],
  ["o", "open", "open the dashboard", showDashboard],
  ["?", "help", "show this list", showHelp],
];

export const KEY_HINT = KEYS.map(([key, word]) => `${key} ${word}`).join("  ");

/** Handles keys that no question takes. An error of an action is printed; the run continues. */
export function liveKeys(options: AskOptions): (key: string) => void {
  return (key) => {
    const act = KEYS.find(([letter]) => letter === key.toLowerCase())?.[3];
    act?.(options, options.live.run).catch((error: unknown) => options.output.error(toTuttiError(error)));
  };
}

async function pauseOrResume({ runs }: AskOptions, { id, status }: Run): Promise<void> {
  await runs.order(id, status === "paused" ? "resume" : "pause");
}

/** If the message begins with the id of a task, the worker of `taskId` receives it, else the main session. */
async function sendMessage({ runs, output, dialogue }: AskOptions, { id, tasks }: Run): Promise<void> {
  const words = (await dialogue.askLine("Message to the main session, or TASK: message to its worker: "))?.trim();
  if (!words) return;
  const [, first, rest] = /^([^\s:]+)[\s:]+(.+)$/s.exec(words) ?? [];
  const taskId = tasks.find((task) => task.id === first)?.id;
  await runs.order(id, "message", taskId === undefined ? { text: words } : { text: rest!, taskId });
  output.line(`${taskId ?? "the main session"} receives the message during its turn if it can, else with the next`);
}

async function answerQuestion(options: AskOptions, { inbox }: Run): Promise<void> {
  const items = Object.values(inbox).filter(({ kind }) => kind !== "plan");
  if (items.length === 0) return options.output.line("Nothing waits for your answer.");
  const item = items.length === 1 ? items[0]! : await chooseItem(options, items);
  if (item) await askItem(options, item);
}

async function chooseItem({ output, dialogue }: AskOptions, items: InboxItem[]): Promise<InboxItem | undefined> {
  for (const [i, { taskId, question }] of items.entries())
    output.line(`  ${i}  ${taskId === null ? "" : `${taskId}: `}${question}`);
  const reply = (await dialogue.askLine("Answer which of these? "))?.trim();
  if (!reply) return undefined;
  const item = items[Number(reply)];
  if (item) return item;
  throw new TuttiError("usage", `"${reply}" is not one of these items. Type a number from 0 to ${items.length - 1}.`);
}

async function retryTask(options: AskOptions, run: Run): Promise<void> {
  const { runs, output } = options;
  const tasks = run.tasks.filter(({ id }) => isFailed(run.workers[id]?.status));
  if (tasks.length > 0) {
    const task = await chooseTask(options, "Retry", tasks);
    if (task) await runs.order(run.id, "retry", { taskId: task.id });
  } else if (Object.values(run.inbox).some((item) => isOfMain(item))) {
    await runs.order(run.id, "retry", { taskId: null });
  } else {
    output.line("Nothing failed, so there is nothing to retry.");
  }
}

const isFailed = (status: WorkerStatus | undefined): boolean =>
  status !== undefined && status !== "completed" && isWorkerOver(status);

async function cancelRun({ runs, dialogue }: AskOptions, { id }: Run): Promise<void> {
  const key = await dialogue.askKey("Cancel the run for good? [y/n] ", "yn");
  if (key === "y") await runs.order(id, "cancel");
}

async function showTask(options: AskOptions, run: Run): Promise<void> {
  if (run.tasks.length === 0) return options.output.line("There is no plan yet.");
  const task = await chooseTask(options, "Show", run.tasks);
  if (task) for (const line of describeTask(run, task)) options.output.result(line);
}

async function chooseTask({ dialogue }: AskOptions, verb: string, tasks: Task[]): Promise<Task | undefined> {
  if (tasks.length === 1) return tasks[0];
  const reply = (await dialogue.askLine(`${verb} which task? ${tasks.map(({ id }) => id).join(", ")}: `))?.trim();
  if (!reply) return undefined;
  const task = tasks.find(({ id }) => id === reply);
  if (task) return task;
  throw new TuttiError("usage", `"${reply}" is not one of these tasks. Type an id of the list.`);
}

async function showDashboard({ runs, output }: AskOptions, { id }: Run): Promise<void> {
  const url = `${await runs.openDashboard()}#/runs/${id}`;
  output.line(`dashboard: ${url}`);
  openBrowser(url);
}

async function showHelp({ output }: AskOptions): Promise<void> {
  for (const [key, , effect] of KEYS) output.line(`  ${key}  ${effect}`);
  output.line("  Escape closes a question; Ctrl-C leaves the run.");
}
