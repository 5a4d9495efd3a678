// Without a sandbox an agent can replace the files of its session folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { pack, readEndOf, readWhole, SessionFile } from "../../src/session/keeper/session-file.ts";
import { makeSessionFolder, paths, readEnd } from "../../src/session/keeper/session-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-files-"));
  makeSessionFolder(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const target = (): string => join(folder, "of-the-user");

it.each([
  ["link", (file: string) => symlinkSync(target(), file)],
  // Opening a pipe for reading would block the whole process until it has a writer.
  ["pipe", (file: string) => void execFileSync("mkfifo", [file])],
])("a file of a session that was replaced by a %s counts as missing", async (_, replace) => {
  writeFileSync(target(), '{"reason":"stopped"}\n');
  const { output, end } = paths(folder);
  for (const file of [output, `${output}.gz`, end]) replace(file);
  expect(new SessionFile(output).length()).toBe(0);
  expect([...new SessionFile(output).lines(0)]).toEqual([]);
  expect([readEndOf(output, 100), readWhole(output)?.length ?? 0]).toEqual(["", 0]);
  expect(readEnd(folder)).toBeNull();
});

it("a link in place of the output is not packed, and its target stays", async () => {
  writeFileSync(target(), "words of the user\n");
  const { output } = paths(folder);
  symlinkSync(target(), output);
  await pack(output);
  expect(existsSync(`${output}.gz`)).toBe(false);
  expect(readFileSync(target(), "utf8")).toBe("words of the user\n");
});
