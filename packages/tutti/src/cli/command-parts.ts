import { Help, type Command, type HelpConfiguration } from "commander";
import type { Output } from "./terminal/output.ts";

/** Turns the function of a command into a Commander action that gets an `Output` and sets the exit code. */
export type CommandAction = <A extends unknown[]>(
  work: (output: Output, ...args: A) => Promise<number>,
) => (...args: unknown[]) => Promise<void>;

export const collect = (value: string, previous: string[]): string[] => [...previous, value];

const exampleLines = new WeakMap<Command, readonly string[]>();

export function examples(command: Command, ...lines: string[]): Command {
  exampleLines.set(command, lines);
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`);
}

export const examplesOf = (command: Command): readonly string[] => exampleLines.get(command) ?? [];

/** `subcommandTerm` keeps each command on one line; `optionDescription` hides the default `[]` of repeatable flags. */
export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  optionDescription: (option) => new Help().optionDescription(option).replace(" (default: [])", ""),
};
