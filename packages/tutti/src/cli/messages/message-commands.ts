import { Option } from "commander";
import type { CliCommand, CommandAction } from "../command-parts.ts";
import type { MailboxLayout } from "../../mailbox/layout.ts";
import type { Protocol } from "../../protocol/canonical/protocol-name.ts";

/** `PROTOCOLS` and `LAYOUTS` repeat the types, so that parsing the command line does not load the protocols. */
const PROTOCOLS = ["response", "mailbox", "delegation", "messages"] satisfies Protocol[];
const LAYOUTS = ["document", "root"] satisfies MailboxLayout[];

export function addMessageCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("validate")
    .argument("<files...>", "Files, folders, or - for stdin")
    .description("Check messages and report every problem with its path")
    .addOption(new Option("--protocol <name>", "Protocol of the messages (default: detected)").choices(PROTOCOLS))
    .option("--lenient", "Accept what Tutti accepts from agents, and report the rest as warnings")
    .action(action(() => import("./validate.ts"), "validate"))
    .withExamples("tutti validate answer.txt --protocol response");

  program
    .command("translate")
    .argument("<file>", "File with a message, or - for stdin")
    .description("Convert a message and report what could not be carried over")
    .addOption(new Option("--from <name>", "Protocol of the message (default: detected)").choices(PROTOCOLS))
    .addOption(new Option("--to <name>", "Protocol to convert to").choices(PROTOCOLS).makeOptionMandatory())
    .action(action(() => import("./translate.ts"), "translate"))
    .withExamples("tutti translate message.json --from mailbox --to messages");

  addMailboxCommands(program, action);
}

function addMailboxCommands(program: CliCommand, action: CommandAction): void {
  const mailbox = program.command("mailbox").description("Use the file mailbox of a project");
  const dir = () => new Option("--dir <dir>", "Project folder (default: the current folder)");

  mailbox
    .command("init")
    .argument("[dir]", "Project folder (default: the current folder)")
    .description("Create the missing folders and files of a mailbox")
    .addOption(
      new Option("--layout <name>", "Layout of the folders (default: the existing one, else document)").choices(
        LAYOUTS,
      ),
    )
    .action(action(() => import("./mailbox.ts"), "init"))
    .withExamples("tutti mailbox init");

  mailbox
    .command("send")
    .argument("<to>", "Box, such as developer or team-lead")
    // `--json` is a global flag without a value, so the message after it is parsed as this argument.
    .argument("[message]", "Message as JSON; --json MESSAGE also prints the result as JSON")
    .description("Check a message and append it to a box")
    .option("--file <file>", "File with the message, or - for stdin")
    .addOption(dir())
    .action(action(() => import("./mailbox.ts"), "send"))
    .withExamples("tutti mailbox send developer --file task.json");

  mailbox
    .command("read")
    .argument("<box>", "Box, such as developer or team-lead")
    .description("Print the new messages of a box and mark them as read")
    .option("--peek", "Do not mark the messages as read")
    .option("--all", "Also print messages that were read before")
    .option("--task <id>", "Print only messages about this task")
    .option("--as <name>", "Name of the reader (default: the owner of the box)")
    .addOption(dir())
    .action(action(() => import("./mailbox.ts"), "read"))
    .withExamples("tutti mailbox read team-lead --peek");

  mailbox
    .command("clear")
    .argument("<box>", "Box, such as developer or team-lead")
    .description("Archive the messages of a box and empty it")
    .addOption(dir())
    .action(action(() => import("./mailbox.ts"), "clear"))
    .withExamples("tutti mailbox clear developer");

  mailbox
    .command("watch")
    .argument("<box>", "Box, such as developer or team-lead")
    .description("Print each new message once, until you press Ctrl-C")
    .option("--as <name>", "Name of the reader (default: the owner of the box)")
    .addOption(dir())
    .action(action(() => import("./mailbox.ts"), "watch"))
    .withExamples("tutti mailbox watch team-lead");
}
