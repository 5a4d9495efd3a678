// What the tables of commands have in common.
import { Help, type Command, type HelpConfiguration } from "commander";
import type { Output } from "./output.ts";

/** Gives a command what it needs of its surroundings, and one way for all of them to end. */
export type Action = <A extends unknown[]>(
  work: (output: Output, ...args: A) => Promise<number>,
) => (...args: unknown[]) => Promise<void>;

/** For flags that can be given more than once. */
export const collect = (value: string, before: string[]): string[] => [...before, value];

const shown = new WeakMap<Command, readonly string[]>();

/** Lines to copy, below the help of a command. */
export function examples(command: Command, ...lines: string[]): Command {
  shown.set(command, lines);
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`);
}

export const examplesOf = (command: Command): readonly string[] => shown.get(command) ?? [];

/** One line for each command, and no word about lists that are empty unless something is said. */
export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  optionDescription: (option) => new Help().optionDescription(option).replace(" (default: [])", ""),
};
