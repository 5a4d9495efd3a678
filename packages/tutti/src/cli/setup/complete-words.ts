// `completeWords` uses the command table and the content of the data folder.
import type { Argument, Command, Option } from "commander";
import { findRun } from "../access/find-run.ts";
import { readRuns } from "../access/open-runs.ts";
import { Output } from "../terminal/output.ts";
import { openTemplateSource } from "./template-source.ts";
import { readUserConfig } from "../../config/config.ts";
import { readConfig } from "../../main/settings.ts";
import { BUILT_IN_AGENTS } from "../../schema/agent/built-in-agents.ts";
import { TuttiError } from "../../schema/error.ts";

const SHELLS = ["bash", "zsh", "fish"];

interface CommandLine {
  command: Command;
  /** Arguments of `command` before the last word. */
  given: string[];
  /** By `attributeName`, with the values of the flags before the last word. */
  flags: Record<string, string>;
  /** Set if the last word is the value of this flag. */
  flag: Option | null;
  last: string;
}

/** Returns the words that `words.at(-1)`, which may be empty, can become. */
export async function completeWords(program: Command, words: readonly string[]): Promise<string[]> {
  const line = readWords(program, words);
  const { command, flag, given, last } = line;
  if (flag === null && last.startsWith("-")) return namesOf(command, program).filter((name) => name.startsWith(last));
  const subcommands = command.commands.map((each) => each.name());
  if (flag === null && subcommands.length > 0) return subcommands.filter((name) => name.startsWith(last));
  try {
    const values = await findValues(flag ?? argumentAt(command, given.length), line);
    // `findRun` and `findItem` accept an id without its prefix, too.
    return values.filter(
      (value) => value.startsWith(last) || /^(?:orch|item)_(.*)$/.exec(value)?.[1]?.startsWith(last),
    );
  } catch (error) {
    // A shell shows no errors, so a missing run or an unreachable server completes nothing.
    if (error instanceof TuttiError) return [];
    throw error;
  }
}

function readWords(program: Command, words: readonly string[]): CommandLine {
  const line: CommandLine = { command: program, given: [], flags: {}, flag: null, last: words.at(-1) ?? "" };
  for (const word of words.slice(0, -1)) {
    if (line.flag !== null) {
      line.flags[line.flag.attributeName()] = word;
      line.flag = null;
    } else if (word.startsWith("-") && word !== "-") {
      const found = optionsOf(line.command, program).find(({ long, short }) => long === word || short === word);
      // A flag with an optional value, or with an unknown name, may have no value.
      if (found?.required) line.flag = found;
    } else {
      const subcommand =
        line.given.length === 0 ? line.command.commands.find((each) => each.name() === word) : undefined;
      if (subcommand) line.command = subcommand;
      else line.given.push(word);
    }
  }
  return line;
}

const optionsOf = (command: Command, program: Command): Option[] => [
  ...new Set([...command.options, ...program.options]),
];

const namesOf = (command: Command, program: Command): string[] => [
  ...new Set([
    ...optionsOf(command, program).flatMap(({ long, short }) => [long, short].filter((name) => name !== undefined)),
    "--help",
  ]),
];

/** The last argument may be `variadic`. */
function argumentAt(command: Command, index: number): Argument | null {
  const known = command.registeredArguments;
  return known[index] ?? (known.at(-1)?.variadic ? known.at(-1)! : null);
}

async function findValues(wanted: Argument | Option | null, line: CommandLine): Promise<readonly string[]> {
  if (wanted === null) return [];
  if (wanted.argChoices) return wanted.argChoices;
  const output = new Output(line.flags);
  const project = line.flags["cwd"] ?? process.cwd();
  switch (kindOf(wanted)) {
    case "agent":
      return [
        ...BUILT_IN_AGENTS,
        ...Object.keys(readUserConfig(output.dataDir).agents),
        ...Object.keys(readConfig(output.dataDir, project).agentsOfProject),
      ];
    case "template":
      return (await (await openTemplateSource(output)).list(project)).map(({ id }) => id);
    case "run":
      return (await (await readRuns(output)).rows()).map(({ id }) => id).toReversed();
    case "item":
      return (await (await readRuns(output)).inbox()).map(({ id }) => id);
    case "task":
      return tasksOf(output, line);
    case "shell":
      return SHELLS;
    default:
      return [];
  }
}

/** The names of arguments and flags say their kind; only `id` names both runs and templates. */
function kindOf(wanted: Argument | Option): string {
  const name = "attributeName" in wanted ? wanted.attributeName() : wanted.name();
  if (name === "id") return wanted.description.startsWith("Template") ? "template" : "run";
  return { after: "run", skip: "task" }[name] ?? name;
}

async function tasksOf(output: Output, { command, given: [id] }: CommandLine): Promise<string[]> {
  const [first] = command.registeredArguments;
  if (id === undefined || first === undefined || kindOf(first) !== "run") return [];
  const runs = await readRuns(output);
  return (await runs.run(findRun(await runs.rows(), id).id)).tasks.map((task) => task.id);
}
