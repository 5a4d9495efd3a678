// The commands on files of messages, as the command line offers them.
import { Option } from "commander";
import type { Command } from "commander";
import { examples, type Action } from "./command-parts.ts";

/** The names that the protocols have in flags; the commands themselves are loaded when they are asked for. */
const PROTOCOLS = ["response", "mailbox", "delegation", "messages"] satisfies import("./local-messages.ts").Protocol[];
const LAYOUTS = ["document", "root"] satisfies import("./local-messages.ts").Layout[];

export function addMessageCommands(program: Command, action: Action): void {
  examples(
    program
      .command("validate")
      .argument("<files...>", "files, folders, or - for the standard input")
      .description("check messages and report every problem with its path")
      .addOption(new Option("--protocol <name>", "what they speak (default: what they look like)").choices(PROTOCOLS))
      .option("--lenient", "accept what Tutti accepts from agents, and tell the rest as warnings")
      .action(
        action(async (output, files: string[], flags: import("./validate.ts").ValidateFlags) =>
          (await import("./validate.ts")).validate(output, files, flags),
        ),
      ),
    "tutti validate answer.txt --protocol response",
  );

  examples(
    program
      .command("translate")
      .argument("<file>", "a file with a message, or - for the standard input")
      .description("convert a message, telling what could not be carried over")
      .addOption(new Option("--from <name>", "what it speaks (default: what it looks like)").choices(PROTOCOLS))
      .addOption(new Option("--to <name>", "what it is to speak").choices(PROTOCOLS).makeOptionMandatory())
      .action(
        action(async (output, file: string, flags: import("./translate.ts").TranslateFlags) =>
          (await import("./translate.ts")).translate(output, file, flags),
        ),
      ),
    "tutti translate message.json --from mailbox --to messages",
  );

  addMailboxCommands(program, action);
}

function addMailboxCommands(program: Command, action: Action): void {
  const mailbox = program.command("mailbox").description("the file mailbox of a project");
  const dir = () => new Option("--dir <dir>", "the project (default: the current folder)");

  examples(
    mailbox
      .command("init")
      .argument("[dir]", "the project (default: the current folder)")
      .description("make the folders and files that are not there yet")
      .addOption(
        new Option("--layout <name>", "where they go (default: what is there, else document)").choices(LAYOUTS),
      )
      .action(
        action(async (output, folder: string | undefined, flags: import("./mailbox.ts").InitFlags) =>
          (await import("./mailbox.ts")).init(output, folder, flags),
        ),
      ),
    "tutti mailbox init",
  );

  examples(
    mailbox
      .command("send")
      .argument("<to>", "the box: developer, team-lead, …")
      // As a flag it is the one for the whole program, which takes no value; so the message is what follows it.
      .argument("[message]", "the message as JSON; --json MESSAGE also answers in JSON")
      .description("check a message and add it to a box")
      .option("--file <file>", "a file with the message, or - for the standard input")
      .addOption(dir())
      .action(
        action(async (output, to: string, text: string | undefined, flags: import("./mailbox.ts").SendFlags) =>
          (await import("./mailbox.ts")).send(output, to, text, flags),
        ),
      ),
    "tutti mailbox send developer --file task.json",
  );

  examples(
    mailbox
      .command("read")
      .argument("<box>", "the box: developer, team-lead, …")
      .description("print what is new in a box and mark it as read")
      .option("--peek", "mark nothing")
      .option("--all", "print also what was read before")
      .option("--task <id>", "only what is about this task")
      .option("--as <name>", "who reads (default: the one whom the box is for)")
      .addOption(dir())
      .action(
        action(async (output, box: string, flags: import("./mailbox.ts").ReadFlags) =>
          (await import("./mailbox.ts")).read(output, box, flags),
        ),
      ),
    "tutti mailbox read team-lead --peek",
  );

  examples(
    mailbox
      .command("clear")
      .argument("<box>", "the box: developer, team-lead, …")
      .description("archive what is in a box and empty it")
      .addOption(dir())
      .action(
        action(async (output, box: string, flags: import("./mailbox.ts").MailboxFlags) =>
          (await import("./mailbox.ts")).clear(output, box, flags),
        ),
      ),
    "tutti mailbox clear developer",
  );

  examples(
    mailbox
      .command("watch")
      .argument("<box>", "the box: developer, team-lead, …")
      .description("print each message once as it comes, until you end it")
      .option("--as <name>", "who reads (default: the one whom the box is for)")
      .addOption(dir())
      .action(
        action(async (output, box: string, flags: import("./mailbox.ts").ReadFlags) =>
          (await import("./mailbox.ts")).watch(output, box, flags),
        ),
      ),
    "tutti mailbox watch team-lead",
  );
}
