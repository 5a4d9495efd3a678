// `COMMANDS` give orders to a run. Each row declares a command and sends its order; `steer.ts` does the rest, such as
// finding the run and following it.
import { type CliCommand, collect, type CommandAction } from "../command-parts.ts";
import type { RunAccess, WorkerOrder } from "../access/runs.ts";
import type { Output } from "../terminal/output.ts";
import type { WatchRunOptions } from "./watch.ts";
import { TuttiError } from "../../schema/error.ts";
import type { InboxItem } from "../../schema/inbox.ts";

/** The flags of all `COMMANDS`; each command has some of them. */
export interface SteerFlags {
  agentEnv?: string[];
  leaveRunning?: boolean;
  allowDegraded?: boolean;
  yes?: boolean;
  skip?: string[];
  edit?: string;
  task?: string;
  now?: boolean;
  option?: string;
  approve?: boolean;
  reject?: boolean;
  archive?: boolean;
  deleteWorkers?: boolean;
  keepState?: boolean;
  /** False for `--no-ff`. */
  ff?: boolean;
}

interface SteerContext {
  runs: RunAccess;
  output: Output;
  signal: AbortSignal;
  id: string;
  /** Null unless the command is declared `on` an item. */
  item: InboxItem | null;
}

/** Sends the order. A command that `follows` the run may return settings for that. */
export type SendOrder = (context: SteerContext) => Promise<Partial<WatchRunOptions> | void>;

export interface SteerCommand {
  name: string;
  description: string;
  /** Whether the first argument names an inbox item instead of a run. */
  on?: "item";
  arguments?: [name: string, description: string][];
  options?: [flag: string, description: string, kind?: "repeatable"][];
  examples: string[];
  /** Whether `watch` follows the run afterwards in this terminal. */
  follows: boolean;
  /** Checks arguments and flags before a server or an engine is opened. */
  order(args: (string | undefined)[], flags: SteerFlags): SendOrder | Promise<SendOrder>;
}

const TASK = (verb: string): [string, string] => ["--task <task>", `${verb} only the worker of this task`];

const YES: [string, string] = ["--yes", "Confirm the plan without asking"];

const COMMANDS: readonly SteerCommand[] = [
  {
    name: "start",
    description: "Start a created run and follow it",
    options: [YES],
    examples: ["tutti start 4k2m --yes"],
    follows: true,
    order:
      () =>
      async ({ runs, id }) =>
        void (await runs.order(id, "start")),
  },
  {
    name: "attach",
    description: "Continue a run and follow it in this terminal",
    options: [YES],
    examples: ["tutti attach 4k2m"],
    follows: true,
    order:
      () =>
      async ({ runs, id }) => ({ start: (await runs.run(id)).status === "created" }),
  },
  {
    name: "confirm",
    description: "Confirm the plan of a run and follow it",
    options: [
      ["--skip <task>", "Skip a task; repeatable", "repeatable"],
      ["--edit <file>", "JSON file with changes: modifications, added, removed, budget"],
    ],
    examples: ["tutti confirm 4k2m", "tutti confirm 4k2m --skip task_003"],
    follows: true,
    order: async (_, flags) => (await import("./confirm.ts")).confirmOrder(flags),
  },
  {
    name: "pause",
    description: "Pause a run, or one of its workers, until you resume it",
    options: [TASK("Pause")],
    examples: ["tutti pause 4k2m", "tutti pause 4k2m --task task_002"],
    follows: false,
    order:
      (_, { task }) =>
      async ({ runs, output, id }) => {
        if (task !== undefined) {
          await orderWorker(runs, id, task, "pause");
          output.value({ id, taskId: task, status: "paused" });
          return output.result(`${task} of ${id} is paused. Resume it with: tutti resume ${id} --task ${task}`);
        }
        await runs.order(id, "pause");
        // Adopts sessions that an earlier engine left running, so that they end in order with this command. After a
        // resume their tasks start a new attempt.
        await runs.activate(id);
        const { status, pausedFrom } = await runs.run(id);
        output.value({ id, status, pausedFrom: pausedFrom?.status });
        output.result(`${id} is paused. Resume it with: tutti resume ${id}`);
      },
  },
  {
    name: "resume",
    description: "Resume a paused or failed run, or a worker, and follow it",
    options: [YES, TASK("Resume")],
    examples: ["tutti resume 4k2m", "tutti resume 4k2m --task task_002"],
    follows: true,
    order:
      (_, { task }) =>
      async ({ runs, id }) =>
        void (await (task === undefined ? runs.order(id, "resume") : orderWorker(runs, id, task, "resume"))),
  },
  {
    name: "cancel",
    description: "Cancel a run for good, or one of its workers",
    options: [TASK("Cancel")],
    examples: ["tutti cancel 4k2m", "tutti cancel 4k2m --task task_002"],
    follows: false,
    order:
      (_, { task }) =>
      async ({ runs, output, id }) => {
        if (task !== undefined) {
          await orderWorker(runs, id, task, "cancel");
          output.value({ id, taskId: task, status: "cancelled" });
          return output.result(`${task} of ${id} is cancelled. Retry it with: tutti retry ${id} ${task}`);
        }
        await runs.order(id, "cancel");
        await runs.activate(id);
        const live = await runs.watch(id);
        await live.settled().finally(() => live.close());
        output.value(await runs.result(id));
        output.result(`${id} is cancelled`);
      },
  },
  {
    name: "delete",
    description: "Cancel a run and clean up after it; its branch stays",
    options: [
      ["--no-archive", "Do not archive the transcripts of its sessions"],
      ["--delete-workers", "Delete the transcripts of its sessions"],
      ["--keep-state", "Keep the run in the lists"],
    ],
    examples: ["tutti delete 4k2m", "tutti delete 4k2m --keep-state --delete-workers"],
    follows: false,
    order: async (_, flags) => (await import("./delete.ts")).deleteOrder(flags),
  },
  {
    name: "merge",
    description: "Merge the result of a run into your current branch",
    options: [["--no-ff", "Create a merge commit even if a fast-forward is possible"]],
    examples: ["tutti merge 4k2m"],
    follows: false,
    order:
      (_, { ff = true }) =>
      async ({ runs, output, id }) => {
        const merged = await runs.merge(id, { noFf: !ff });
        output.value({ id, ...merged });
        if (merged.undo === null) return output.result(`${merged.branch} already contains the result of ${id}`);
        output.result(`merged the result of ${id} into ${merged.branch}`);
        if (merged.added) output.warn(foreignCommits(id, merged.added));
        output.result(`Undo it with: ${merged.undo}`);
      },
  },
  {
    name: "drop",
    description: "Remove the branch with the result of a run",
    examples: ["tutti drop 4k2m"],
    follows: false,
    order:
      () =>
      async ({ runs, output, id }) => {
        const dropped = await runs.drop(id);
        output.value({ id, ...dropped });
        if (dropped.undo === null) return output.result(`${id} has no branch ${dropped.branch}`);
        output.result(`removed the branch ${dropped.branch}`);
        output.result(`Bring it back with: ${dropped.undo}`);
      },
  },
  {
    name: "retry",
    description: "Retry a task or a phase that did not complete, and follow it",
    arguments: [["[task]", "Task id (default: the phase that the main session did not complete)"]],
    examples: ["tutti retry 4k2m task_003", "tutti retry 4k2m"],
    follows: true,
    order:
      ([taskId = null]) =>
      async ({ runs, id }) =>
        void (await runs.order(id, "retry", { taskId })),
  },
  {
    name: "override",
    description: "Open a gate without an approval, if its template allows it",
    arguments: [
      ["<environment>", "Environment of the gate, such as staging"],
      ["<reason>", "Why the gate opens; the log keeps it"],
    ],
    examples: ['tutti override 4k2m production "An outage"'],
    follows: false,
    order: ([environment = "", reason = ""]) => {
      if (reason.trim() === "") throw new TuttiError("usage", "The reason is empty. Give a text.");
      return async ({ runs, output, id }) => {
        await runs.overrideGate(id, environment, reason);
        output.value({ id, environment, reason });
        output.result(`the gate of ${environment} of ${id} is open`);
      };
    },
  },
  {
    name: "message",
    description: "Send a message to the main session or a worker of a run",
    arguments: [["<text>", "Text of the message; claude and codex receive it during their turn, others with the next"]],
    options: [
      ["--task <task>", "Send it to the worker of this task (default: the main session)"],
      ["--now", "Interrupt an agent that cannot receive messages during its turn, and resume it with the message"],
    ],
    examples: [
      'tutti message 4k2m "Use British spelling" --task task_002',
      'tutti message 4k2m "Stop at the first failure" --task task_002 --now',
    ],
    follows: false,
    order: ([text = ""], { task, now = false }) => {
      if (text.trim() === "") throw new TuttiError("usage", "The message is empty. Give a text.");
      return async ({ runs, output, id }) => {
        await runs.order(id, "message", { text, ...(task !== undefined && { taskId: task }), ...(now && { now }) });
        output.value({ id, taskId: task ?? null, text });
        const receiver = `${task ?? "the main session"} of ${id}`;
        output.result(
          now
            ? `${receiver} receives the message now; "tutti logs ${id}" shows it`
            : `${receiver} receives the message during its turn if its agent can, else with its next turn`,
        );
      };
    },
  },
  {
    name: "answer",
    description: "Answer an inbox item and follow its run",
    on: "item",
    arguments: [["[text]", "Text of the answer"]],
    options: [
      ["--option <n>", "Choose an option by its number, from 0"],
      ["--approve", "Approve the item"],
      ["--reject", "Reject the item; for a plan the text says what to change"],
    ],
    examples: [
      'tutti answer item_9f "four spaces"',
      "tutti answer item_9f --option 1",
      'tutti answer item_9f --reject "fewer tasks"',
    ],
    follows: true,
    order: async ([text], flags) => (await import("./answer.ts")).answerOrder(text, flags),
  },
];

/** Gives an order to the newest attempt at `task`. The log keeps the order, also for a run that no process works on. */
async function orderWorker(runs: RunAccess, id: string, task: string, name: WorkerOrder): Promise<void> {
  const { tasks, workers } = await runs.run(id);
  const worker = Object.hasOwn(workers, task) ? workers[task] : undefined;
  if (worker) return void (await runs.orderWorker(id, worker.sessionId, name));
  throw tasks.some((each) => each.id === task)
    ? new TuttiError("wrong_state", `Task "${task}" has not started. Wait until it has, or edit the plan.`)
    : new TuttiError("task_not_found", `Run "${id}" has no task "${task}". List its tasks with "tutti status ${id}".`);
}

function foreignCommits(id: string, added: readonly string[]): string {
  const [first, ...more] = added.map((commit) => commit.slice(0, 12));
  const named = more.length === 0 ? `the commit ${first}` : `${first} and ${more.length} more commits`;
  return `The branch of ${id} had ${named}, which the run did not make. If you did not either, undo the merge.`;
}

export const STEER_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

export function addSteerCommands(program: CliCommand, action: CommandAction): void {
  for (const row of COMMANDS) {
    const command = program.command(row.name).description(row.description);
    if (row.on === "item") command.argument("<item>", "Inbox item id or a unique prefix of it");
    else command.argument("<id>", "Run id or a unique prefix of it");
    for (const [name, description] of row.arguments ?? []) command.argument(name, description);
    if (row.follows) {
      command
        .option("--agent-env <K=V>", "Environment variable for the agents; repeatable", collect, [])
        .option("--leave-running", "Keep the agents running when the command ends")
        .option("--allow-degraded", "Exit with 0 even if a part of the plan did not complete");
    }
    for (const [flag, description, kind] of row.options ?? []) {
      if (kind === "repeatable") command.option(flag, description, collect, []);
      else command.option(flag, description);
    }
    command.action(action(async () => (await import("./steer.ts")).steering(row), "steer"));
    command.withExamples(...row.examples);
  }
}
