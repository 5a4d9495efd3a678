// The table of commands: one short file per command, loaded when it is asked for.
import { Command } from "commander";
import { addLogCommands } from "./log-commands.ts";
import { addLookCommands } from "./look-commands.ts";
import { addMessageCommands } from "./message-commands.ts";
import { addNotifyCommands } from "./notify-commands.ts";
import type { Output } from "./output.ts";
import { collect, examples, HELP, type Action } from "./command-parts.ts";
import { addScheduleCommands } from "./schedule-commands.ts";
import { addSteerCommands } from "./steer-commands.ts";
import { addTemplateCommands } from "./template-commands.ts";
import { addTokenCommands } from "./token-commands.ts";
import { readVersion } from "./version.ts";
import { TuttiError } from "../schema/error.ts";

/** Commands that speak to the server that `--url` names; all others work on this machine alone. */
const SPEAKS_TO_SERVER = new Set([
  "run",
  "list",
  "status",
  "logs",
  "attach",
  "start",
  "confirm",
  "pause",
  "resume",
  "cancel",
  "delete",
  "retry",
  "message",
  "inbox",
  "answer",
  "export",
  "import",
  "replay",
  "fork",
  "prune",
  "templates",
  "schedules",
  "triggers",
  "tokens",
]);

/** Runs the work of a command, with what it needs of its surroundings, and deals with how it ends. */
type Runner = (work: (output: Output) => Promise<number>) => () => Promise<void>;

export function createProgram(runner: Runner): Command {
  const action: Action =
    (work) =>
    async (...args) =>
      runner((output) => work(output, ...(args as never)))();
  const program = new Command("tutti")
    .description("Lets several coding agents work on one request, and proves what happened.")
    .version(readVersion())
    .option("--data-dir <dir>", "where runs are kept (default: $TUTTI_DATA_DIR, else the platform's data folder)")
    .option("--url <url>", "the server to speak to (default: the one that works on the data folder, if any)")
    .option("--token <token>", "the server's token (default: $TUTTI_TOKEN, else the one in the data folder)")
    .option("--json", "JSON on stdout and nothing else")
    .option("--quiet", "only what is asked for")
    .option("--no-color", "no colours")
    .configureHelp(HELP)
    .hook("preAction", (_, command) => {
      const [name] = pathOf(command);
      if (program.opts<{ url?: string }>().url === undefined || SPEAKS_TO_SERVER.has(name!)) return;
      throw new TuttiError("usage", `tutti ${name} works on this machine and takes no --url`);
    });

  const run = program
    .command("run")
    .argument("<request>", "what is to be done, in words")
    .description("create, start and follow one run in this terminal")
    .option(
      "--template <id>",
      "the template to use (default: that of tutti.config.json, else documentation for local, else _default)",
    )
    .option("--cwd <dir>", "the repository to work on (default: the current folder)")
    .option(
      "--agent <agent>",
      "who works: local, claude, codex, acp:PROGRAM…, command:PROGRAM…, text:PROGRAM…, cdp:URL, script:FILE, or a name from tutti.config.json (default: the template's, else that of tutti.config.json, else local)",
    )
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option("--var <K=V>", "a variable for the prompts; repeatable", collect, [])
    .option("--max-workers <n>", "workers at the same time")
    .option("--max-usd <amount>", "what the run may cost before it asks for more")
    .option("--trust <hash>", "agree to the programs that the project's own files would run")
    .option("--yes", "confirm the plan without asking")
    .option("--detach", "leave the run to the server and end at once")
    .option("--allow-degraded", "exit with 0 also when a part of the plan did not complete")
    .action(
      action(async (output, request: string, flags: import("./run.ts").RunFlags) =>
        (await import("./run.ts")).run(output, request, flags),
      ),
    );
  examples(
    run,
    'tutti run "Document this repository"',
    'tutti run "Write the missing tests" --template testing --agent claude --max-usd 5',
    'tutti run "Add a changelog" --agent "acp:gemini --acp" --yes --json | tail -n 1 | jq .outcome',
  );

  const serve = program
    .command("serve")
    .description("server and dashboard, until you end it")
    .option("--port <n>", "the port; 0 takes any that is free", "4517")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--max-workers <n>", "workers at the same time over all runs")
    .option(
      "--max-per-agent <A=N>",
      "workers at the same time for one agent, such as claude=3; repeatable",
      collect,
      [],
    )
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option(
      "--rate-limit <n>",
      "requests that one address may make in a minute (default: that of tutti.config.json, else none on loopback and 600 beyond)",
    )
    .option("--folders <dir...>", "the only folders that runs may use (default: those of tutti.config.json, else any)")
    .option("--log-level <level>", "error, warn, info or debug (default: $TUTTI_LOG, else info; on a terminal warn)")
    .option("--log-file <file>", "write the log there, not to standard error")
    .option("--retain-days <n>", "remove runs so many days after they ended (default: that of tutti.config.json)")
    .option("--leave-running", "leave agents at work when the server is ended")
    .action(
      action(async (output, flags: import("./serve.ts").ServeFlags) =>
        (await import("./serve.ts")).serve(output, flags),
      ),
    );
  examples(
    serve,
    "tutti serve",
    "tutti serve --port 0 --max-per-agent claude=3",
    "tutti serve --host 0.0.0.0 --folders ~/projects --rate-limit 300",
  );

  program
    .command("demo")
    .description("document a sample project and show it in the dashboard")
    .action(action(async (output) => (await import("./demo.ts")).demo(output)));

  const init = program
    .command("init")
    .argument("[dir]", "the project (default: the current folder)")
    .description("write tutti.config.json and a template; overwrites nothing")
    .action(action(async (output, dir: string | undefined) => (await import("./init.ts")).init(output, dir)));
  examples(init, "tutti init", "tutti init ~/my-project");

  const rehearse = program
    .command("rehearse")
    .argument("<template>", "the template to try")
    .description("play a template with scripted agents, to see its course")
    .option("--cwd <dir>", "the project whose templates are looked at too (default: the current folder)")
    .option("--request <text>", "the request to rehearse with")
    .option("--tasks <n>", "how many tasks the rehearsed plan has")
    .option("--var <K=V>", "a variable for the prompts; repeatable", collect, [])
    .option("--prompts", "show every prompt as a whole")
    .action(
      action(async (output, template: string, flags: import("./rehearse.ts").RehearseFlags) =>
        (await import("./rehearse.ts")).rehearse(output, template, flags),
      ),
    );
  examples(rehearse, "tutti rehearse testing --tasks 5", "tutti rehearse example --prompts");

  const doctor = program
    .command("doctor")
    .description("what is installed, what is missing, what to do")
    .action(action(async (output) => (await import("./doctor.ts")).doctor(output)));
  examples(doctor, "tutti doctor", "tutti doctor --json | jq '.checks[] | select(.status != \"ok\")'");

  addLookCommands(program, action);
  addSteerCommands(program, action);
  addTemplateCommands(program, action);
  addScheduleCommands(program, action);
  addLogCommands(program, action);
  addMessageCommands(program, action);
  addNotifyCommands(program, action);
  addTokenCommands(program, action);

  const completion = program
    .command("completion")
    .argument("<shell>", "bash, zsh or fish")
    .description("print what makes your shell complete commands, flags and ids")
    .action(
      action(async (output, shell: string) => (await import("./completion.ts")).completion(output, shell, program)),
    );
  examples(
    completion,
    'eval "$(tutti completion bash)"',
    "tutti completion fish > ~/.config/fish/completions/tutti.fish",
  );

  return program;
}

/** The words that lead to a command: `templates`, `show`. */
export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}
