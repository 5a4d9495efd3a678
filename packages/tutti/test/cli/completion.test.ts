// `tutti completion`: the words that a command line can continue with, and the scripts of the shells.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InProcessLab, tutti } from "./in-process.ts";
import { SHELLS } from "./shells.ts";
import { withProgram } from "../lab/required-program.ts";
import { mainSession } from "../lab/scenarios.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
let lab: InProcessLab;
let id: string;
let item: string;

beforeAll(async () => {
  lab = new InProcessLab();
  const agent = lab.scenario(mainSession([{ id: "read" }, { id: "write" }]));
  // Without a terminal the run waits for its confirmation, as an item of the inbox.
  await lab.tutti(["run", "Do it", "--agent", agent, "--cwd", lab.repo]);
  const runs = JSON.parse((await lab.tutti(["--json", "list"])).stdout) as { id: string }[];
  const items = JSON.parse((await lab.tutti(["--json", "inbox"])).stdout) as { id: string }[];
  [id, item] = [runs[0]!.id, items[0]!.id];
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ agents: { fast: { agent: "claude" } } }));
  mkdirSync(join(lab.data, "templates"), { recursive: true });
  writeFileSync(
    join(lab.data, "templates/house.json"),
    JSON.stringify({ id: "house", name: "House", extends: "documentation" }),
  );
  const bin = join(lab.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "tutti"), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`, { mode: 0o755 });
  writeFileSync(join(lab.folder, "notes.json"), "");
});
afterAll(() => lab.tearDown());

/** The words after `tutti --data-dir DATA`; the last one is to be completed. */
async function complete(...words: string[]): Promise<string[]> {
  const { stdout } = await tutti(["completion", "bash", "--", "--data-dir", lab.data, ...words]);
  return stdout.split("\n").slice(0, -1);
}

describe("tutti completion", () => {
  it("completes commands and flags", async () => {
    expect(await complete("st")).toEqual(["status", "start"]);
    expect(await complete("templates", "du")).toEqual(["duplicate"]);
    expect(await complete("run", "request", "--max")).toEqual(["--max-workers", "--max-usd"]);
    expect(await complete("list", "--js")).toEqual(["--json"]);
    expect(await complete("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it("completes runs, items, templates, agents, roles and tasks", async () => {
    expect(await complete("status", "orch_")).toEqual([id]);
    // The prefix may be missing, as in every command.
    expect(await complete("run", "And this", "--after", id.slice("orch_".length, -2))).toEqual([id]);
    expect(await complete("answer", "")).toEqual([item]);
    expect(await complete("templates", "show", "hou")).toEqual(["house"]);
    expect(await complete("run", "--template", "hou")).toEqual(["house"]);
    expect(await complete("rehearse", "test")).toEqual(["testing"]);
    expect(await complete("run", "Do it", "--agent", "")).toEqual(["local", "claude", "codex", "fast"]);
    expect(await complete("tokens", "create", "phone", "--role", "")).toEqual(["view", "operate", "admin"]);
    for (const words of [
      ["logs", id, "--task"],
      ["diff", id],
      ["retry", id],
      ["confirm", id, "--skip"],
    ])
      expect(await complete(...words, ""), words.join(" ")).toEqual(["read", "write"]);
  });

  it("completes nothing where there is nothing to name, and for a run that does not exist", async () => {
    expect(await complete("run", "")).toEqual([]);
    expect(await complete("import", "")).toEqual([]);
    expect(await complete("logs", "orch_none", "--task", "")).toEqual([]);
    expect(await complete("mailbox", "read", "developer", "--task", "")).toEqual([]);
  });

  /** Loads the script, and prints what the shell offers for `tutti WORDS`. */
  const shells = {
    bash: (words: string[]) =>
      `source <(tutti completion bash); COMP_WORDS=(tutti ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _tutti; printf '%s\\n' "\${COMPREPLY[@]}"`,
    // Outside of a completion there is no `compadd`, so it is replaced by one that prints.
    zsh: (words: string[]) =>
      `compadd() { print -l -- "\${(@P)argv[-1]}" }; _files() { print -l -- not*.json }; source <(tutti completion zsh) 2>/dev/null; words=(tutti ${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length + 1}; _tutti`,
    fish: (words: string[]) => `tutti completion fish | source; complete -C 'tutti ${words.join(" ")}'`,
  };

  for (const program of SHELLS) {
    const commandFor = shells[program.name as keyof typeof shells];
    const act = (shell: string): void => {
      const offered = (...words: string[]): string[] => {
        const env = {
          ...process.env,
          PATH: `${join(lab.folder, "bin")}${delimiter}${process.env["PATH"]}`,
          HOME: lab.folder,
          TUTTI_DATA_DIR: lab.data,
        };
        const { stdout } = spawnSync(shell, ["-c", commandFor(words)], { cwd: lab.folder, encoding: "utf8", env });
        return stdout
          .trim()
          .split("\n")
          .filter((line) => line !== "");
      };
      expect(offered("templates", "du")).toEqual(["duplicate"]);
      expect(offered("retry", id, "")).toEqual(["read", "write"]);
      expect(offered("import", "not")).toEqual(["notes.json"]);
    };
    it(`is used by ${program.name}, which completes the names of files by itself`, withProgram(program, act));
  }
});
