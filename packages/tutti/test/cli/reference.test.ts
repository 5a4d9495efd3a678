// Help and documentation come from one command table.
import { describe, expect, it } from "vitest";
import { tutti } from "./in-process.ts";
import { commandTable, leaves, renderCommands, storedCommands } from "../../../../scripts/generate-cli-docs.mjs";
import { examplesOf } from "../../src/cli/command-parts.ts";
import { pathOf } from "../../src/cli/program.ts";

describe("the command table", () => {
  it("matches docs/cli.md; after a change run npm run schemas", () => {
    expect(storedCommands()).toBe(renderCommands());
  });

  it("has one line and an example for each command, and its examples use only existing commands and flags", async () => {
    const program = commandTable();
    const globals = program.options.map(({ long }) => long);
    for (const command of leaves(program)) {
      const path = pathOf(command).join(" ");
      expect(command.description().length, path).toBeLessThan(63);
      if (path !== "demo") expect(examplesOf(command).length, path).toBeGreaterThan(0);
      const flags = command.options.flatMap(({ long, short }) => [long, short]);
      for (const example of examplesOf(command)) {
        expect(example).toContain(`tutti ${path}`);
        const [commandLine] = example.split(/ \| | > /);
        for (const [flag] of commandLine!.replaceAll(/"[^"]*"/g, "").matchAll(/(?<= )--?[a-z][a-z-]*/g))
          expect([...flags, ...globals], example).toContain(flag);
      }
    }
    const { stdout } = await tutti(["run", "--help"]);
    for (const name of ["claude", "codex", "acp:", "cdp:", "command:", "text:", "script:"])
      expect(stdout).toContain(name);
  });
});

describe("tutti --help", () => {
  it("lists every command in a group with a heading, and ends with examples", async () => {
    const { stdout } = await tutti(["--help"]);
    expect(stdout).not.toMatch(/^Commands:/m);
    const groups = stdout.split(/\n\n(?=\S.*:\n)/).map((group) => group.split("\n")[0]);
    expect(groups).toEqual([
      expect.stringMatching(/^Usage: /),
      "Options:",
      "Start:",
      "Set up:",
      "Look:",
      "Steer a run, and take its result:",
      "Kept work:",
      "Templates and schedules:",
      "Logs of runs:",
      "Messages of agents:",
      "Examples:",
    ]);
    for (const command of commandTable().commands) expect(stdout).toMatch(new RegExp(`^  ${command.name()} `, "m"));
    for (const [, name] of stdout.slice(stdout.indexOf("Examples:")).matchAll(/^ {2}tutti (\w+)/gm))
      expect(commandTable().commands.map((command) => command.name())).toContain(name);
  });
});
