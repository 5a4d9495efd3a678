// The command line: reads what was typed, runs one command and says with which code to end.
import { CommanderError } from "commander";
import { endWhenUnread, Output, type GlobalFlags, type ProgramOptions } from "./output.ts";
import { createProgram } from "./program.ts";
import { toTuttiError } from "./to-tutti-error.ts";
import { TuttiError } from "../schema/error.ts";

/** Runs one command and returns its exit code. */
export async function main(argv: string[], options: ProgramOptions = {}): Promise<number> {
  const ended = endWhenUnread();
  // The parser cannot say it when it fails.
  const json = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json");
  let code = 0;
  const program = createProgram((work) => async () => {
    const output = new Output(program.opts<GlobalFlags>(), options);
    try {
      code = await work(output);
    } catch (error) {
      code = output.error(toTuttiError(error));
    }
  });
  let said = "";
  const keep = (text: string) => void (said += text);
  // For programs, what the parser says goes into the one value on stdout.
  const listen = json ? { writeOut: keep, writeErr: keep } : {};
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    command.configureOutput(listen).exitOverride();
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    const output = new Output({ json });
    if (!(error instanceof CommanderError)) return output.error(toTuttiError(error));
    if (error.exitCode === 0) {
      output.value(error.code === "commander.version" ? { version: said.trim() } : { help: said });
      return 0;
    }
    // Outside of JSON, Commander has said it already.
    if (json) output.error(new TuttiError("usage", usageOf(error)));
    return 2;
  }
  return ended(code);
}

const usageOf = ({ code, message }: CommanderError): string =>
  code === "commander.help" ? "say which command: tutti --help lists them" : message.replace(/^error: /, "");
