// The commands that steer runs and answer for the person, as the command line offers them.
import type { Command } from "commander";
import { collect, examples, type Action } from "./command-parts.ts";

/** For commands that go on with a run and follow it. */
const following = (command: Command): Command =>
  command
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option("--allow-degraded", "exit with 0 also when a part of the plan did not complete");

export function addSteerCommands(program: Command, action: Action): void {
  const ofRun = (name: string, description: string): Command =>
    program.command(name).argument("<id>", "the run, or the beginning of its id").description(description);

  examples(
    following(ofRun("start", "start a run that was created, and follow it"))
      .option("--yes", "confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./start.ts")).start(output, id, flags),
        ),
      ),
    "tutti start 4k2m --yes",
  );

  examples(
    following(ofRun("attach", "go on with a run and follow it in this terminal"))
      .option("--yes", "confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./attach.ts")).attach(output, id, flags),
        ),
      ),
    "tutti attach 4k2m",
  );

  examples(
    following(ofRun("confirm", "confirm the plan of a run and follow it"))
      .option("--skip <task>", "leave a task out; repeatable", collect, [])
      .option("--edit <file>", "a JSON file with changes: modifications, added, removed, budget")
      .action(
        action(async (output, id: string, flags: import("./confirm.ts").ConfirmFlags) =>
          (await import("./confirm.ts")).confirm(output, id, flags),
        ),
      ),
    "tutti confirm 4k2m",
    "tutti confirm 4k2m --skip task_003",
  );

  examples(
    ofRun("pause", "let a run rest until it is resumed").action(
      action(async (output, id: string) => (await import("./pause.ts")).pause(output, id)),
    ),
    "tutti pause 4k2m",
  );

  examples(
    following(ofRun("resume", "go on with a paused run and follow it"))
      .option("--yes", "confirm the plan without asking")
      .action(
        action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./resume.ts")).resume(output, id, flags),
        ),
      ),
    "tutti resume 4k2m",
  );

  examples(
    ofRun("cancel", "end a run for good").action(
      action(async (output, id: string) => (await import("./cancel.ts")).cancel(output, id)),
    ),
    "tutti cancel 4k2m",
  );

  examples(
    ofRun("delete", "end a run and tidy up after it; its branch stays")
      .option("--no-archive", "do not pack what its sessions said")
      .option("--delete-workers", "remove what its sessions said")
      .option("--keep-state", "leave the run in the lists")
      .action(
        action(async (output, id: string, flags: import("./delete.ts").DeleteFlags) =>
          (await import("./delete.ts")).deleteRun(output, id, flags),
        ),
      ),
    "tutti delete 4k2m",
    "tutti delete 4k2m --keep-state --delete-workers",
  );

  examples(
    following(ofRun("retry", "try a task again that did not complete, and follow its run"))
      .argument("<task>", "the task")
      .action(
        action(async (output, id: string, task: string, flags: import("./attach.ts").AttachFlags) =>
          (await import("./retry.ts")).retry(output, id, task, flags),
        ),
      ),
    "tutti retry 4k2m task_003",
  );

  examples(
    ofRun("message", "say something to the main session or a worker of a run")
      .argument("<text>", "what is to be said; heard with the next turn")
      .option("--task <task>", "to the worker of this task (default: the main session)")
      .action(
        action(async (output, id: string, text: string, flags: { task?: string }) =>
          (await import("./message.ts")).message(output, id, text, flags),
        ),
      ),
    'tutti message 4k2m "Use British spelling" --task task_002',
  );

  examples(
    following(program.command("answer").argument("<item>", "what waits for an answer"))
      .argument("[text]", "the answer")
      .description("answer something that waits for a person, and follow its run")
      .option("--option <n>", "take an option by its number, from 0")
      .option("--approve", "yes")
      .option("--reject", "no; with words for a plan: what should be different")
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
