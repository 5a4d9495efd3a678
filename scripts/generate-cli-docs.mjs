// Writes the commands in docs/cli.md from the command table. A test compares the result with the file.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { examplesOf } from "../packages/tutti/src/cli/command-parts.ts";
import { createProgram, pathOf } from "../packages/tutti/src/cli/program.ts";

/** @typedef {ReturnType<typeof createProgram>} Command */

const file = fileURLToPath(new URL("../docs/cli.md", import.meta.url));
const MARK = "<!-- From here on made by scripts/generate-cli-docs.mjs from the table of commands. -->\n";

/** Builds the whole table; no command runs. */
export const commandTable = () => createProgram(() => async () => {});

/** Returns the generated text below the mark. */
export function renderCommands() {
  const program = commandTable();
  const options = ["## Global flags", "", ...table("flag", program.options.map(rowOfOption)), ""];
  return [...options, "## Commands", "", ...leaves(program).flatMap(section)].join("\n");
}

/** Returns the current text below the mark. */
export function storedCommands() {
  return readFileSync(file, "utf8").split(MARK)[1];
}

/**
 * All executable commands, in the order of the table.
 *
 * @param {Command} command
 * @returns {Command[]}
 */
export function leaves(command) {
  return command.commands.flatMap((each) => (each.commands.length > 0 ? leaves(each) : [each]));
}

/** @param {Command} command */
function section(command) {
  const options = command.options.map(rowOfOption);
  const args = command.registeredArguments.map((argument) => [termOf(argument), argument.description]);
  const rows = [...args, ...options];
  const words = ["tutti", ...pathOf(command), ...command.registeredArguments.map(termOf)].join(" ");
  const examples = examplesOf(command);
  return [
    `### \`${words}\``,
    "",
    `${command.description()}.`,
    "",
    ...(rows.length > 0 ? [...table("", rows), ""] : []),
    ...(examples.length > 0 ? ["```sh", ...examples, "```", ""] : []),
  ];
}

/** @param {Command["registeredArguments"][number]} argument */
function termOf(argument) {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`;
  return argument.required ? name : `[${name}]`;
}

/** @param {Command["options"][number]} option */
function rowOfOption(option) {
  const { defaultValue: value, argChoices: choices } = option;
  const isTold = typeof value === "string";
  const more = [...(choices ? [`one of ${choices.join(", ")}`] : []), ...(isTold ? [`default: ${value}`] : [])];
  return [option.flags, `${option.description}${more.length > 0 ? ` (${more.join("; ")})` : ""}`];
}

/**
 * @param {string} head
 * @param {string[][]} rows
 */
function table(head, rows) {
  const escaped = (/** @type {string} */ text) => text.replaceAll("|", "\\|");
  return [`| ${head} | |`, "|---|---|", ...rows.map(([term, text]) => `| \`${term}\` | ${escaped(text ?? "")} |`)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [own] = readFileSync(file, "utf8").split(MARK);
  writeFileSync(file, `${own}${MARK}${renderCommands()}`);
}
