// Output for programs: one JSON value on stdout, documented exit codes, pipes that close early.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tutti, tuttiJson } from "./in-process.ts";

const STREAMS = join(import.meta.dirname, "../../src/cli/terminal/streams.ts");
const LAUNCHER = join(import.meta.dirname, "../../bin/tutti.js");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-output-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("an unknown command", () => {
  it.each([
    ["bogus", `error: unknown command 'bogus'. List the commands with "tutti --help".\n`],
    ["lis", `error: unknown command 'lis'. Did you mean list? List the commands with "tutti --help".\n`],
  ])("%s is answered with a command of a similar name only", async (word, stderr) => {
    expect(await tutti([word])).toEqual({ code: 2, stdout: "", stderr });
  });
});

describe("--json", () => {
  it.each([
    [["no-such-command"], "unknown command 'no-such-command'"],
    [["list", "--no-such-flag"], "unknown option '--no-such-flag'"],
    [["run"], "missing required argument 'request'"],
    [["templates", "show"], "missing required argument 'id'"],
    [["translate", "x", "--to", "nonsense"], "is invalid"],
    [[], "The command is missing"],
    [["templates"], "The command is missing"],
    [["--url", "nowhere", "list"], "is not a valid value of --url"],
    [["--url", "http://127.0.0.1:1", "init", "x"], "takes no --url"],
    [["completion", "tcsh"], "bash, zsh or fish"],
  ])("prints wrong usage %j as one value on stdout and exits with 2", async (args, message) => {
    const { code, lines } = await tuttiJson<{ error: { code: string; message: string } }>(args);
    expect(code).toBe(2);
    expect(lines).toEqual([{ error: { code: "usage", message: expect.stringContaining(message) } }]);
  });

  it("prints the version and the help as one value", async () => {
    expect(await tuttiJson(["--version"])).toMatchObject({
      code: 0,
      lines: [{ version: expect.stringMatching(/^\d/) }],
    });
    expect(await tuttiJson(["run", "--help"])).toMatchObject({
      code: 0,
      lines: [{ help: expect.stringContaining("tutti run [options] <request>") }],
    });
  });

  it.each([
    [["import", "missing.jsonl"]],
    [["validate", "missing.json"]],
    [["translate", "missing.json", "--to", "messages"]],
    [["templates", "create", "missing.json"]],
    [["templates", "validate", "missing.json"]],
    [["templates", "import", "missing.json"]],
    [["confirm", "x", "--edit", "missing.json"]],
    [["mailbox", "send", "developer", "--file", "missing.json"]],
  ])("exits with 3 for a missing file and with 2 for a folder: %j", async (args) => {
    const given = (path: string) =>
      tuttiJson(["--data-dir", folder, ...args.map((arg) => (arg.startsWith("missing") ? path : arg))]);
    for (const path of [join(folder, "missing"), join(import.meta.filename, "below-a-file")]) {
      expect(await given(path)).toMatchObject({ code: 3, lines: [{ error: { code: "item_not_found" } }] });
    }
    // `validate` accepts a folder.
    if (args[0] === "validate") return;
    expect(await given(folder)).toMatchObject({ code: 2, lines: [{ error: { code: "usage" } }] });
  });
});

describe("without --json", () => {
  it("wrong usage goes to stderr, with nothing on stdout", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, "list", "--no-such-flag"], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("unknown option");
  });

  it("--quiet prints results only", async () => {
    expect(await tutti(["--data-dir", folder, "list"])).toMatchObject({
      stdout: 'No runs yet. Start one with "tutti run".\n',
    });
    expect(await tutti(["--data-dir", folder, "--quiet", "list"])).toMatchObject({ stdout: "", stderr: "" });
  });

  it.each(["templates show documentation", "list"])(
    "finished tutti %s whose output is not read exits with 0 and prints no error",
    (words) => {
      const command = `"${process.execPath}" "${LAUNCHER}" --json --data-dir "${folder}" ${words} | true; exit \${PIPESTATUS[0]}`;
      const { status, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
    },
  );

  it("a command that only prints keeps the order of its texts when a pipe does not take all of them at once", () => {
    const code = `import { endOnBrokenPipe, writeTo } from ${JSON.stringify(STREAMS)};
      endOnBrokenPipe(true);
      for (const [i, size] of [3000, 3000, 300_000, 10].entries()) writeTo("stdout", String(i).repeat(size));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    const runs = stdout.match(/(.)\1*/g)!.map((run) => [run[0], run.length]);
    expect(runs).toEqual([
      ["0", 3000],
      ["1", 3000],
      ["2", 300_000],
      ["3", 10],
    ]);
  });
});
