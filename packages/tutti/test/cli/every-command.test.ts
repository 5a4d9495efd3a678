// Runs every command of `tutti --help` with `--json`: stdout is JSON on success and on failure.
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram, pathOf } from "../../src/cli/program.ts";
import { ERRORS, type ErrorCode } from "../../src/schema/error.ts";
import { Scene } from "../server/route-cases.ts";
import { ServerLab } from "../server/server-lab.ts";
import { COMMANDS, CommandScene } from "./command-cases.ts";
import { tuttiJson } from "./in-process.ts";

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
const names = leaves(createProgram(() => async () => {})).map((command) => pathOf(command).join(" "));

type Line = { error?: { code: ErrorCode; message: string } };

let lab: ServerLab;
let scene: CommandScene;
beforeAll(async () => {
  lab = await ServerLab.open();
  const runs = new Scene(lab);
  await runs.setUp();
  scene = new CommandScene(runs);
});
afterAll(() => lab.tearDown());

describe("with --json", () => {
  it("every command has a case in COMMANDS", () => {
    expect(Object.keys(COMMANDS).toSorted()).toEqual(names.toSorted());
  });

  const ending = names.filter((name) => COMMANDS[name]?.good !== null);
  it.each(ending)("tutti %s prints JSON on stdout and nothing else", async (name) => {
    const { good, streams, codes = [0] } = COMMANDS[name]!;
    const { code, lines, last } = await tuttiJson<Line>(await good!(scene));
    expect(codes, JSON.stringify(last)).toContain(code);
    if (streams) expect(lines.length).toBeGreaterThan(0);
    else expect(lines).toHaveLength(1);
    // An outcome has a member `error` too, which is a string or null.
    expect(last).not.toMatchObject({ error: { code: expect.any(String) } });
  });

  it.each(names)("tutti %s prints a refusal as one value and exits with the code of its error", async (name) => {
    const { code, lines } = await tuttiJson<Line>(COMMANDS[name]!.bad(scene));
    expect(lines).toEqual([
      { error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) },
    ]);
    const { exit } = ERRORS[lines[0]!.error!.code];
    expect([code, exit]).toEqual([exit, code]);
  });
});
