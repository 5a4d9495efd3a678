// The commands that steer runs and answer for the person, as the command line offers them.
import type { Command } from "commander";
import type { Action } from "./message-commands.ts";

const collect = (value: string, before: string[]): string[] => [...before, value];

/** For commands that go on with a run and follow it. */
const following = (command: Command): Command =>
  command
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option("--allow-degraded", "exit with 0 also when a part of the plan did not complete");

export function addSteerCommands(program: Command, action: Action): void {
  const ofRun = (name: string, description: string): Command =>
    program.command(name).argument("<id>", "the run, or the beginning of its id").description(description);

  following(ofRun("start", "start a run that was created, and follow it"))
    .option("--yes", "confirm the plan without asking")
    .action(
      action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
        (await import("./start.ts")).start(output, id, flags),
      ),
    );

  following(ofRun("attach", "go on with a run and follow it in this terminal"))
    .option("--yes", "confirm the plan without asking")
    .action(
      action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
        (await import("./attach.ts")).attach(output, id, flags),
      ),
    );

  following(ofRun("confirm", "confirm the plan of a run and follow it"))
    .option("--skip <task>", "leave a task out; repeatable", collect, [])
    .option("--edit <file>", "a JSON file with changes: modifications, added, removed, budget")
    .action(
      action(async (output, id: string, flags: import("./confirm.ts").ConfirmFlags) =>
        (await import("./confirm.ts")).confirm(output, id, flags),
      ),
    );

  ofRun("pause", "let a run rest until it is resumed").action(
    action(async (output, id: string) => (await import("./pause.ts")).pause(output, id)),
  );

  following(ofRun("resume", "go on with a paused run and follow it"))
    .option("--yes", "confirm the plan without asking")
    .action(
      action(async (output, id: string, flags: import("./attach.ts").AttachFlags) =>
        (await import("./resume.ts")).resume(output, id, flags),
      ),
    );

  ofRun("cancel", "end a run for good").action(
    action(async (output, id: string) => (await import("./cancel.ts")).cancel(output, id)),
  );

  ofRun("delete", "end a run and tidy up after it; its branch stays")
    .option("--no-archive", "do not pack what its sessions said")
    .option("--delete-workers", "remove what its sessions said")
    .option("--keep-state", "leave the run in the lists")
    .action(
      action(async (output, id: string, flags: import("./delete.ts").DeleteFlags) =>
        (await import("./delete.ts")).deleteRun(output, id, flags),
      ),
    );

  following(ofRun("retry", "try a task again that did not complete, and follow its run"))
    .argument("<task>", "the task")
    .action(
      action(async (output, id: string, task: string, flags: import("./attach.ts").AttachFlags) =>
        (await import("./retry.ts")).retry(output, id, task, flags),
      ),
    );

  program
    .command("inbox")
    .description("everything that waits for a person")
    .action(action(async (output) => (await import("./inbox.ts")).inbox(output)));

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
    );
}
