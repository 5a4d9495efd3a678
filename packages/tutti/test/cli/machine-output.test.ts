// What programs meet: one JSON value on stdout and nothing else, documented exit codes, pipes that end early.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tutti, tuttiJson } from "./in-process.ts";

const LAUNCHER = join(import.meta.dirname, "../../bin/tutti.js");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-output-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("--json", () => {
  it.each([
    [["no-such-command"], "unknown command 'no-such-command'"],
    [["list", "--no-such-flag"], "unknown option '--no-such-flag'"],
    [["run"], "missing required argument 'request'"],
    [["templates", "show"], "missing required argument 'id'"],
    [["translate", "x", "--to", "nonsense"], "is invalid"],
    [[], "say which command"],
    [["templates"], "say which command"],
    [["--url", "nowhere", "list"], "--url takes an address"],
    [["--url", "http://127.0.0.1:1", "init", "x"], "takes no --url"],
    [["completion", "tcsh"], "bash, zsh and fish"],
  ])("tells wrong usage %j as one value on stdout, with exit 2", async (args, message) => {
    const { code, lines } = await tuttiJson<{ error: { code: string; message: string } }>(args);
    expect(code).toBe(2);
    expect(lines).toEqual([{ error: { code: "usage", message: expect.stringContaining(message) } }]);
  });

  it("gives the version and the help as one value too", async () => {
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
  ])(
    "says not found, exit 3, for a file that is not there, and wrong usage, exit 2, for a folder: %j",
    async (args) => {
      const given = (path: string) =>
        tuttiJson(["--data-dir", folder, ...args.map((arg) => (arg.startsWith("missing") ? path : arg))]);
      for (const path of [join(folder, "missing"), join(import.meta.filename, "below-a-file")]) {
        expect(await given(path)).toMatchObject({ code: 3, lines: [{ error: { code: "item_not_found" } }] });
      }
      // What can look at all files of a folder does.
      if (args[0] === "validate") return;
      expect(await given(folder)).toMatchObject({ code: 2, lines: [{ error: { code: "usage" } }] });
    },
  );
});

describe("words", () => {
  it("about wrong usage go to stderr, with nothing on stdout", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, "list", "--no-such-flag"], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("unknown option");
  });

  it("that were not asked for are left out with --quiet", async () => {
    expect(await tutti(["--data-dir", folder, "list"])).toMatchObject({ stdout: "no runs yet\n" });
    expect(await tutti(["--data-dir", folder, "--quiet", "list"])).toMatchObject({ stdout: "", stderr: "" });
  });

  it("that nobody reads end the command quietly with 0", () => {
    const command = `"${process.execPath}" "${LAUNCHER}" --json --data-dir "${folder}" templates show documentation | true; exit \${PIPESTATUS[0]}`;
    const { status, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});
