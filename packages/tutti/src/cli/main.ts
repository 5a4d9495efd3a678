import { CommanderError } from "commander";
import { Output, type GlobalFlags, type ProgramOptions } from "./terminal/output.ts";
import { LOOK_NAMES } from "./run/look-commands.ts";
import { endOnBrokenPipe, writeTo } from "./terminal/streams.ts";
import { INTERRUPTED, listenForSignals } from "./terminal/interrupt.ts";
import { calledCommand, createProgram } from "./program.ts";
import { toTuttiError } from "./to-tutti-error.ts";
import { TuttiError } from "../schema/error.ts";

interface MainOptions extends ProgramOptions {
  /** Set by the launcher: no other code of the process writes to its streams. */
  ownsStreams?: boolean;
}

export async function main(argv: string[], { ownsStreams = false, ...options }: MainOptions = {}): Promise<number> {
  const signals = listenForSignals();
  const called = calledCommand(argv);
  const adjustExitCode = endOnBrokenPipe(ownsStreams && LOOK_NAMES.includes(called!));
  try {
    return adjustExitCode(await runCommand(argv, called, options, signals.hasInterrupted));
  } finally {
    signals.stop();
  }
}

async function runCommand(
  argv: string[],
  called: string | undefined,
  options: ProgramOptions,
  hasInterrupted: () => boolean,
): Promise<number> {
  // The flag is read from `argv`, because the parser gives no options when it fails.
  const json = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json");
  let code = 0;
  const program = createProgram(
    (work) => async () => {
      const output = new Output(program.opts<GlobalFlags>(), options);
      try {
        code = await work(output);
      } catch (error) {
        // If `hasInterrupted`, the error is a consequence of the interrupt.
        code = hasInterrupted() ? INTERRUPTED : output.error(toTuttiError(error));
      }
    },
    called,
  );
  let captured = "";
  const capture = (text: string) => void (captured += text);
  // `--json` prints one value on stdout, so the parser's text is `captured` for it.
  const streams = json ? { writeOut: capture, writeErr: capture } : { writeOut, writeErr, outputError: writeUsage };
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    command.configureOutput(streams).exitOverride();
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    const output = new Output({ json });
    if (!(error instanceof CommanderError)) return output.error(toTuttiError(error));
    if (error.exitCode === 0) {
      output.value(error.code === "commander.version" ? { version: captured.trim() } : { help: captured });
      return 0;
    }
    // Without `--json`, Commander has already printed the error.
    if (json) output.error(new TuttiError("usage", usageOf(error)));
    return 2;
  }
  return code;
}

/**
 * Commander suggests words that have little in common with the wrong one. Keep only those with the same first letter.
 */
function withoutFarSuggestion(text: string): string {
  const [, word = ""] = /^error: unknown command '(.+)'$/m.exec(text) ?? [];
  if (word === "") return text;
  const [, suggested = ""] = /\(Did you mean (?:one of )?(.+)\?\)/.exec(text) ?? [];
  const near = suggested.split(", ").filter((each) => each.startsWith(word[0]!));
  const advice = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return `error: unknown command '${word}'.${advice} List the commands with "tutti --help".\n`;
}

const writeOut = (text: string): void => writeTo("stdout", text);
const writeErr = (text: string): void => writeTo("stderr", text);
const writeUsage = (text: string, write: (text: string) => void): void => write(withoutFarSuggestion(text));

const usageOf = ({ code, message }: CommanderError): string =>
  code === "commander.help"
    ? 'The command is missing. List the commands with "tutti --help".'
    : withoutFarSuggestion(message)
        .replace(/^error: /, "")
        .trim();
