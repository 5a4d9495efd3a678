// Help, documentation and completion come from one command table.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

describe("completion", () => {
  it("in bash covers commands, flags and the ids of runs, items and templates; zsh and fish have a script too", async () => {
    const { stdout: script } = await tutti(["completion", "bash"]);
    const folder = mkdtempSync(join(tmpdir(), "tutti-completion-"));
    try {
      const bin = join(folder, "bin");
      mkdirSync(bin);
      writeFileSync(
        join(bin, "tutti"),
        '#!/bin/sh\ncase "$1" in list) echo "orch_abc  running  x";; inbox) echo "item_9f  plan";; templates) echo "house  user  House";; esac\n',
      );
      chmodSync(join(bin, "tutti"), 0o755);
      writeFileSync(join(folder, "script.bash"), script);
      const complete = (...words: string[]): string[] => {
        const all = ["tutti", ...words].map((word) => `'${word}'`).join(" ");
        const command = `source ${join(folder, "script.bash")}; COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _tutti; printf '%s\\n' "\${COMPREPLY[@]}"`;
        const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", command], {
          cwd: folder,
          encoding: "utf8",
          env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
        });
        expect(stderr).toBe("");
        return stdout.trim().split("\n");
      };
      expect(complete("st")).toEqual(["status", "start"]);
      expect(complete("--data-dir", "x", "templates", "du")).toEqual(["duplicate"]);
      expect(complete("run", "request", "--max")).toEqual(["--max-workers", "--max-usd"]);
      expect(complete("status", "orch_")).toEqual(["orch_abc"]);
      expect(complete("answer", "")).toEqual(["item_9f"]);
      expect(complete("templates", "show", "")).toEqual(["house"]);
      expect(complete("import", "script")).toEqual(["script.bash"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect((await tutti(["completion", "zsh"])).stdout).toContain("bashcompinit");
    const fish = (await tutti(["completion", "fish"])).stdout;
    expect(fish).toContain("complete -c tutti -n '__fish_use_subcommand' -f -a status");
    expect(fish).toContain("complete -c tutti -n '__fish_seen_subcommand_from logs' -l task");
  });
});
