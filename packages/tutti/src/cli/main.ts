// The command line: one short file per command, loaded when it is asked for.
import { Command, CommanderError } from "commander";
import { addLogCommands } from "./log-commands.ts";
import { addMessageCommands } from "./message-commands.ts";
import { endWhenUnread, Output, type GlobalFlags } from "./output.ts";
import { addSteerCommands } from "./steer-commands.ts";
import { addTemplateCommands } from "./template-commands.ts";
import { readVersion } from "./version.ts";
import { asTuttiError } from "../schema/error.ts";

/** Runs one command and returns its exit code. */
export async function main(argv: string[]): Promise<number> {
  endWhenUnread();
  const program = new Command("tutti")
    .description("Lets several coding agents work on one request, and proves what happened.")
    .version(readVersion())
    .option("--data-dir <dir>", "where runs are kept (default: $TUTTI_DATA_DIR, else the platform's data folder)")
    .option("--json", "JSON on stdout and nothing else")
    .option("--quiet", "only what is asked for")
    .option("--no-color", "no colours")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  let code = 0;
  /** What a command needs of its surroundings, and one way for all of them to end. */
  const action = <A extends unknown[]>(work: (output: Output, ...args: A) => Promise<number>) => {
    return async (...args: unknown[]) => {
      const output = new Output(program.opts<GlobalFlags>());
      try {
        code = await work(output, ...(args as A));
      } catch (error) {
        code = output.error(asTuttiError(error));
      }
    };
  };

  program
    .command("run")
    .argument("<request>", "what is to be done, in words")
    .description("create, start and follow one run in this terminal")
    .option("--template <id>", "the template to use (default: documentation for local, else _default)")
    .option("--cwd <dir>", "the repository to work on (default: the current folder)")
    .option("--agent <agent>", "who works: local, command:PROGRAM…, text:PROGRAM… or script:FILE (default: local)")
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option("--var <K=V>", "a variable for the prompts; repeatable", collect, [])
    .option("--max-workers <n>", "workers at the same time")
    .option("--max-usd <amount>", "what the run may cost before it asks for more")
    .option("--trust <hash>", "agree to the programs that the project's own template would run")
    .option("--yes", "confirm the plan without asking")
    .option("--allow-degraded", "exit with 0 also when a part of the plan did not complete")
    .action(
      action(async (output, request: string, flags: import("./run.ts").RunFlags) =>
        (await import("./run.ts")).run(output, request, flags),
      ),
    );

  program
    .command("serve")
    .description("server and dashboard, until you end it")
    .option("--port <n>", "the port; 0 takes any that is free", "4517")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--token <token>", "the token to ask for (default: $TUTTI_TOKEN, else the one in the data folder)")
    .option("--max-workers <n>", "workers at the same time over all runs")
    .option(
      "--max-per-agent <A=N>",
      "workers at the same time for one agent, such as claude=3; repeatable",
      collect,
      [],
    )
    .option("--agent-env <K=V>", "a variable for the agents; repeatable", collect, [])
    .option("--leave-running", "leave agents at work when the server is ended")
    .action(
      action(async (output, flags: import("./serve.ts").ServeFlags) =>
        (await import("./serve.ts")).serve(output, flags),
      ),
    );

  program
    .command("demo")
    .description("document a sample project with the built-in agent, and show it in the dashboard")
    .action(action(async (output) => (await import("./demo.ts")).demo(output)));

  program
    .command("rehearse")
    .argument("<template>", "the template to try")
    .description("run a template with scripted agents on a sample project, to see what it would do")
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

  addSteerCommands(program, action);

  program
    .command("list")
    .description("all runs")
    .action(action(async (output) => (await import("./list.ts")).list(output)));

  program
    .command("status")
    .argument("<id>", "the run, or the beginning of its id")
    .description("how a run stands")
    .action(action(async (output, id: string) => (await import("./status.ts")).status(output, id)));

  addTemplateCommands(program, action);
  addLogCommands(program, action);
  addMessageCommands(program, action);

  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed its message; help and version are no errors.
    return error.exitCode === 0 ? 0 : 2;
  }
  return code;
}

const collect = (value: string, before: string[]): string[] => [...before, value];
