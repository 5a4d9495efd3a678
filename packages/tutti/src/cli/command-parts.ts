import { Command, Help, type HelpConfiguration } from "commander";
import type { Output } from "./terminal/output.ts";

type CommandFunction = (output: Output, ...args: never[]) => Promise<number>;

/**
 * Makes a Commander action of the function `name`, which gets an `Output`, the arguments and the flags, and returns the
 * exit code. `load` imports it when the command runs, so that no command waits for the modules of another.
 */
export type CommandAction = <N extends string>(
  load: () => Promise<Readonly<Record<N, CommandFunction>>>,
  name: N,
) => (...args: unknown[]) => Promise<void>;

export const collect = (value: string, previous: string[]): string[] => [...previous, value];

export class CliCommand extends Command {
  exampleLines: readonly string[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  withExamples(...lines: string[]): this {
    this.exampleLines = lines;
    return this.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`);
  }
}

export const examplesOf = (command: Command): readonly string[] =>
  command instanceof CliCommand ? command.exampleLines : [];

/** `subcommandTerm` keeps each command on one line; `optionDescription` hides the default `[]` of repeatable flags. */
export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  optionDescription: (option) => new Help().optionDescription(option).replace(" (default: [])", ""),
};
