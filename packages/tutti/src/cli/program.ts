// The command table. `action` loads the file of a command only when the command runs.
import type { Command } from "commander";
import { addFleetCommands } from "./fleet/fleet-commands.ts";
import { addLogCommands } from "./log/log-commands.ts";
import { addLookCommands, LOOK_NAMES } from "./run/look-commands.ts";
import { addMessageCommands } from "./messages/message-commands.ts";
import { addNotifyCommands } from "./setup/notify-commands.ts";
import type { Output } from "./terminal/output.ts";
import { CliCommand, collect, HELP, type CommandAction } from "./command-parts.ts";
import { addScheduleCommands } from "./setup/schedule-commands.ts";
import { addSteerCommands, STEER_NAMES } from "./run/steer-commands.ts";
import { addTemplateCommands } from "./setup/template-commands.ts";
import { addKeptCommands } from "./kept/kept-commands.ts";
import { addTokenCommands } from "./setup/token-commands.ts";
import { SUITE_NAMES } from "../main/conformance-suites.ts";
import { readVersion } from "../own-files.ts";
import { TuttiError } from "../schema/error.ts";

/** `runner` provides the `Output` and handles the exit code and the errors of `work`. */
type Runner = (work: (output: Output) => Promise<number>) => () => Promise<void>;

interface CommandGroup {
  heading: string;
  /** Only these commands accept `--url`. */
  names: readonly string[];
  /** These commands work on this machine only. */
  local?: readonly string[];
  add: (program: CliCommand, action: CommandAction) => void;
}

const SET_UP = "Set up:";
const TEMPLATES = "Templates and schedules:";

/** In the order of the help. */
const GROUPS: readonly CommandGroup[] = [
  { heading: "Start:", names: ["run", "open", "mcp"], local: ["serve", "demo"], add: addStartCommands },
  { heading: SET_UP, names: [], local: ["init", "rehearse", "doctor", "conformance"], add: addSetUpCommands },
  { heading: "Look:", names: LOOK_NAMES, add: addLookCommands },
  { heading: "Steer a run, and take its result:", names: STEER_NAMES, add: addSteerCommands },
  { heading: "Kept work:", names: [], local: ["restore", "find", "gc"], add: addKeptCommands },
  { heading: TEMPLATES, names: ["templates"], add: addTemplateCommands },
  { heading: TEMPLATES, names: ["schedules", "triggers"], add: addScheduleCommands },
  { heading: "Logs of runs:", names: ["export", "import", "replay", "fork", "prune"], add: addLogCommands },
  { heading: "Messages of agents:", names: [], local: ["validate", "translate", "mailbox"], add: addMessageCommands },
  { heading: SET_UP, names: [], local: ["notify"], add: addNotifyCommands },
  { heading: SET_UP, names: ["tokens"], add: addTokenCommands },
  { heading: SET_UP, names: ["hosts"], local: ["worker"], add: addFleetCommands },
  // `completion` reads the whole table, so a call of it must not leave out the other groups.
  { heading: SET_UP, names: [], add: addCompletionCommand },
];
const SERVER_COMMANDS = new Set(GROUPS.flatMap(({ names }) => names));

/**
 * Returns the table of all commands or, if `called` is one of them, of its group only: the whole table would take a
 * tenth of the time of `tutti list`.
 */
export function createProgram(runner: Runner, called?: string): Command {
  const action: CommandAction =
    (load, name) =>
    async (...args) =>
      runner(async (output) => (await load())[name](output, ...(args as never[])))();
  const program = new CliCommand("tutti")
    .description("Run several coding agents on one request, and record everything that happens.")
    .version(readVersion(), "-V, --version", "Show the version and exit")
    .helpOption("-h, --help", "Show this help and exit")
    .commandsGroup(SET_UP)
    .helpCommand("help [command]", "Show the help of a command and exit")
    .option(
      "--data-dir <dir>",
      "Folder that stores the runs (default: $TUTTI_DATA_DIR, else the platform's data folder)",
    )
    .option("--url <url>", "Server to use (default: the one that runs on the data folder, if any)")
    .option("--token <token>", "Token of the server (default: $TUTTI_TOKEN, else the one in the data folder)")
    .option("--json", "Print JSON on stdout and nothing else")
    .option("--quiet", "Print results only")
    .option("--no-color", "Print without colours")
    .configureHelp(HELP)
    .hook("preAction", (_, command) => {
      const [name] = pathOf(command);
      if (program.opts<{ url?: string }>().url === undefined || SERVER_COMMANDS.has(name!)) return;
      throw new TuttiError("usage", `"tutti ${name}" works on this machine only and takes no --url. Remove the flag.`);
    });

  const own = GROUPS.filter(({ names, local = [] }) => called !== undefined && [...names, ...local].includes(called));
  for (const { heading, add } of own.length > 0 ? own : GROUPS) add(program.commandsGroup(heading), action);
  return program.addHelpText("after", HELP_END);
}

function addStartCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("run")
    .argument("<request>", "Work to do, in plain words")
    .description("Create, start and follow a run in this terminal")
    .option(
      "--template <id>",
      "Template to use (default: from tutti.config.json, else documentation for the agent local, else _default)",
    )
    .option("--cwd <dir>", "Repository to work on (default: the current folder)")
    .option(
      "--scope <path>",
      "File or folder below the repository to which the result is limited; repeatable",
      collect,
      [],
    )
    .option("--after <id>", "Ended run to continue from: its result, folder, template and agent")
    .option(
      "--agent <agent>",
      "Agent to use: local, claude, codex, acp:PROGRAM…, command:PROGRAM…, text:PROGRAM…, cdp:URL, script:FILE, or a name from tutti.config.json (default: from the template, else tutti.config.json, else local)",
    )
    .option(
      "--role <NAME=AGENT>",
      "Agent of a phase (analysis, taskPlanning, workerExecution, aggregation, verification) or of a role of the template; repeatable",
      collect,
      [],
    )
    .option("--agent-env <K=V>", "Environment variable for the agents; repeatable", collect, [])
    .option("--var <K=V>", "Variable for the prompts; repeatable", collect, [])
    .option("--max-workers <n>", "Maximum number of parallel workers")
    .option("--max-usd <amount>", "Cost in US dollars at which the run asks for more")
    .option("--trust <hash>", "Agree to the programs and settings that files of the project ask for")
    .option("--sandbox <mode>", SANDBOX)
    .option("--yes", "Confirm the plan without asking")
    .option("--detach", "Leave the run to the server and exit at once")
    .option("--leave-running", "Keep the agents running when the command ends")
    .option("--allow-degraded", "Exit with 0 even if a part of the plan did not complete")
    .action(action(() => import("./run/run.ts"), "run"))
    .withExamples(
      'tutti run "Document this repository"',
      'tutti run "And now also the examples" --after 4k2m',
      'tutti run "Write the missing tests" --template testing --agent claude --max-usd 5',
      'tutti run "Add a changelog" --agent "acp:gemini --acp" --yes --json | tail -n 1 | jq .outcome',
    );

  program
    .command("serve")
    .description("Run the server and the dashboard until you press Ctrl-C")
    .option("--port <n>", "Port to listen on; 0 selects a free one", "4517")
    .option("--host <address>", "Address to listen on", "127.0.0.1")
    .option("--max-workers <n>", "Maximum number of parallel workers over all runs")
    .option(
      "--max-per-agent <A=N>",
      "Maximum number of parallel workers of an agent, such as claude=3; repeatable",
      collect,
      [],
    )
    .option("--agent-env <K=V>", "Environment variable for the agents; repeatable", collect, [])
    .option(
      "--rate-limit <n>",
      "Requests per minute from one address (default: from tutti.config.json, else no limit on loopback and 600 beyond)",
    )
    .option("--folders <dir...>", "Allow runs only in these folders (default: from tutti.config.json, else all)")
    .option(
      "--log-level <level>",
      "Log level: error, warn, info or debug (default: $TUTTI_LOG, else info; on a terminal warn)",
    )
    .option("--log-file <file>", "Write the log to this file instead of stderr")
    .option("--retain-days <n>", "Remove runs N days after they ended (default: from tutti.config.json)")
    .option("--sandbox <mode>", SANDBOX)
    .option("--leave-running", "Keep the agents running when the server ends")
    .option("--database-url <url>", "Keep the runs in a PostgreSQL database, which several servers can share")
    .option("--lease <seconds>", "Time after which the work of a silent worker host is given to another (default: 30)")
    .option("--also-work", "Run sessions here too while worker hosts are ready and full")
    .action(action(() => import("./setup/serve.ts"), "serve"))
    .withExamples(
      "tutti serve",
      "tutti serve --port 0 --max-per-agent claude=3",
      "tutti serve --host 0.0.0.0 --folders ~/projects --rate-limit 300",
    );

  program
    .command("open")
    .argument("[id]", "Run to show: its id or a unique prefix of it")
    .description("Open the dashboard in the browser, and print its address")
    .action(action(() => import("./setup/open.ts"), "open"))
    .withExamples("tutti open", "tutti open 4k2m");

  program
    .command("mcp")
    .description("Offer your runs as MCP tools to your own agent")
    .option("--http <port>", "Serve http://127.0.0.1:PORT/mcp instead of stdin and stdout; 0 selects a free port")
    .action(action(() => import("./mcp/mcp.ts"), "mcp"))
    .withExamples("claude mcp add tutti -- tutti mcp", "tutti mcp --http 4518");

  program
    .command("demo")
    .description("Document a sample project and show the dashboard")
    .action(action(() => import("./setup/demo.ts"), "demo"));
}

function addSetUpCommands(program: CliCommand, action: CommandAction): void {
  program
    .command("init")
    .argument("[dir]", "Project folder (default: the current folder)")
    .description("Write tutti.config.json and a template; overwrite nothing")
    .action(action(() => import("./setup/init.ts"), "init"))
    .withExamples("tutti init", "tutti init ~/my-project");

  program
    .command("rehearse")
    .argument("<template>", "Template to rehearse")
    .description("Run a template with scripted agents to see what it does")
    .option("--cwd <dir>", "Project whose templates are available too (default: the current folder)")
    .option("--request <text>", "Request to rehearse with")
    .option("--tasks <n>", "Number of tasks in the rehearsed plan")
    .option("--var <K=V>", "Variable for the prompts; repeatable", collect, [])
    .option("--prompts", "Show every prompt in full")
    .action(action(() => import("./setup/rehearse.ts"), "rehearse"))
    .withExamples("tutti rehearse testing --tasks 5", "tutti rehearse example --prompts");

  program
    .command("doctor")
    .description("Check this machine and advise what to install or fix")
    .action(action(() => import("./setup/doctor.ts"), "doctor"))
    .withExamples("tutti doctor", "tutti doctor --json | jq '.checks[] | select(.status != \"ok\")'");

  program
    .command("conformance")
    .description("Try an agent with every protocol on a sample project")
    .requiredOption("--agent <agent>", "Agent to try, as in tutti run")
    .option("--suite <name>", `Only this protocol (${SUITE_NAMES.join(", ")}); repeatable`, collect, [])
    .option("--timeout <seconds>", "Time limit of each protocol", "1800")
    .action(action(() => import("./setup/conformance.ts"), "conformance"))
    .withExamples('tutti conformance --agent "command:node my-agent.js"', "tutti conformance --agent claude --json");
}

function addCompletionCommand(program: CliCommand, action: CommandAction): void {
  program
    .command("completion")
    .argument("<shell>", "bash, zsh or fish")
    .argument("[words...]", "After --: words of a command line to complete, as the script does")
    .description("Print a script that completes commands, flags and ids")
    .action(action(() => import("./setup/completion.ts"), "completion"))
    .withExamples(
      'eval "$(tutti completion bash)"',
      'tutti completion zsh > "${fpath[1]}/_tutti"',
      "tutti completion fish > ~/.config/fish/completions/tutti.fish",
    );
}

const SANDBOX =
  "Sandbox of the agents: auto, off or required (default: $TUTTI_SANDBOX, else tutti.config.json, else auto)";

const HELP_END = `
Examples:
  tutti demo                            See a run, without a key or an account
  tutti run "Add tests" --agent claude  Start your own in this folder
  tutti list                            Find a run and its id
  tutti merge 4k2m                      Take the result of a run

Show the flags and examples of a command with "tutti help COMMAND".
`;

const FLAGS = new Set(["--json", "--quiet", "--no-color"]);
const FLAGS_WITH_VALUE = new Set(["--data-dir", "--url", "--token"]);

/** Returns the word after the global flags, which is the name of a command unless `argv` is wrong. */
export function calledCommand(argv: readonly string[]): string | undefined {
  let at = 0;
  for (; FLAGS.has(argv[at]!) || FLAGS_WITH_VALUE.has(argv[at]!); at++) if (FLAGS_WITH_VALUE.has(argv[at]!)) at++;
  return argv[at];
}

/** Returns the words of a command without `tutti`, such as `templates` and `show`. */
export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}
