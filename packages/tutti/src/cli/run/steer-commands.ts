import type { Command } from "commander";
import { collect, examples, type CommandAction } from "../command-parts.ts";

const withFollowFlags = (command: Command): Command =>
  command
    .option("--agent-env <K=V>", "Environment variable for the agents; repeatable", collect, [])
    .option("--allow-degraded", "Exit with 0 even if a part of the plan did not complete");

export function addSteerCommands(program: Command, action: CommandAction): void {
  const runCommand = (name: string, description: string): Command =>
    program.command(name).argument("<id>", "Run id or a unique prefix of it").description(description);

  examples(
    withFollowFlags(runCommand("start", "Start a created run and follow it"))
      .option("--yes", "Confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./start.ts")).start(output, id, flags),
        ),
      ),
    "tutti start 4k2m --yes",
  );

  examples(
    withFollowFlags(runCommand("attach", "Continue a run and follow it in this terminal"))
      .option("--yes", "Confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./attach.ts")).attach(output, id, flags),
        ),
      ),
    "tutti attach 4k2m",
  );

  examples(
    withFollowFlags(runCommand("confirm", "Confirm the plan of a run and follow it"))
      .option("--skip <task>", "Skip a task; repeatable", collect, [])
      .option("--edit <file>", "JSON file with changes: modifications, added, removed, budget")
      .action(
        action(async (output, id: string, flags: import("./confirm.ts").ConfirmFlags) =>
          (await import("./confirm.ts")).confirm(output, id, flags),
        ),
      ),
    "tutti confirm 4k2m",
    "tutti confirm 4k2m --skip task_003",
  );

  examples(
    runCommand("pause", "Pause a run until you resume it").action(
      action(async (output, id: string) => (await import("./pause.ts")).pause(output, id)),
    ),
    "tutti pause 4k2m",
  );

  examples(
    withFollowFlags(runCommand("resume", "Resume a paused run and follow it"))
      .option("--yes", "Confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./resume.ts")).resume(output, id, flags),
        ),
      ),
    "tutti resume 4k2m",
  );

  examples(
    runCommand("cancel", "Cancel a run for good").action(
      action(async (output, id: string) => (await import("./cancel.ts")).cancel(output, id)),
    ),
    "tutti cancel 4k2m",
  );

  examples(
    runCommand("delete", "Cancel a run and clean up after it; its branch stays")
      .option("--no-archive", "Do not archive the transcripts of its sessions")
      .option("--delete-workers", "Delete the transcripts of its sessions")
      .option("--keep-state", "Keep the run in the lists")
      .action(
        action(async (output, id: string, flags: import("./delete.ts").DeleteFlags) =>
          (await import("./delete.ts")).deleteRun(output, id, flags),
        ),
      ),
    "tutti delete 4k2m",
    "tutti delete 4k2m --keep-state --delete-workers",
  );

  examples(
    withFollowFlags(runCommand("retry", "Retry a task that did not complete, and follow its run"))
      .argument("<task>", "Task id")
      .action(
        action(async (output, id: string, task: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./retry.ts")).retry(output, id, task, flags),
        ),
      ),
    "tutti retry 4k2m task_003",
  );

  examples(
    runCommand("message", "Send a message to the main session or a worker of a run")
      .argument("<text>", "Text of the message; it is delivered with the next turn")
      .option("--task <task>", "Send it to the worker of this task (default: the main session)")
      .action(
        action(async (output, id: string, text: string, flags: { task?: string }) =>
          (await import("./message.ts")).message(output, id, text, flags),
        ),
      ),
    'tutti message 4k2m "Use British spelling" --task task_002',
  );

  examples(
    withFollowFlags(program.command("answer").argument("<item>", "Inbox item id or a unique prefix of it"))
      .argument("[text]", "Text of the answer")
      .description("Answer an inbox item and follow its run")
      .option("--option <n>", "Choose an option by its number, from 0")
      .option("--approve", "Approve the item")
      .option("--reject", "Reject the item; for a plan the text says what to change")
      .action(
        action(async (output, item: string, text: string | undefined, flags: import("./answer.ts").AnswerFlags) =>
          (await import("./answer.ts")).answer(output, item, text, flags),
        ),
      ),
    'tutti answer item_9f "four spaces"',
    "tutti answer item_9f --option 1",
    'tutti answer item_9f --reject "fewer tasks"',
  );
}
