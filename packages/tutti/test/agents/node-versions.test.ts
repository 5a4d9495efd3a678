// The package and a clone on every version of Node that the README names. The binaries come from npm, outside the
// dependencies of this repository.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { npmInstall, packTutti, ROOT, runOnce, runWith, versionOf } from "../repository/packed-package.ts";

const BINARIES = `node-linux-${process.arch}`;
const LAUNCHER = join(ROOT, "packages/tutti/bin/tutti.js");
const version = versionOf(join(ROOT, "packages/tutti/package.json"));
let folder: string;
let tarball: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-nodes-"));
  tarball = packTutti(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function provideNode(context: TestContext, wanted: string): Promise<string> {
  const home = join(folder, wanted);
  mkdirSync(home);
  await npmInstall(context, ["--prefix", home, `${BINARIES}@${wanted}`], home);
  return join(home, "node_modules", BINARIES, "bin/node");
}

// 22.18 is the oldest version that Tutti accepts.
describe.skipIf(process.platform !== "linux").each(["22.18.0", "22", "24", "26"])("on Node %s", (wanted) => {
  test("the package is installed globally and started by npx, and neither it nor a clone prints a warning", async (context) => {
    const node = await provideNode(context, wanted);
    const { stdout: running } = await runWith(node, ["node", "--version"], folder);
    expect(running).toMatch(new RegExp(String.raw`^v${wanted.replaceAll(".", String.raw`\.`)}\b`));

    const prefix = join(folder, wanted, "global");
    await npmInstall(context, ["--global", "--prefix", prefix, tarball], folder);
    expect(await runOnce(node, [join(prefix, "bin/tutti")])).toEqual({ outcome: "success", stderr: "" });
    expect(await runOnce(node, [node, LAUNCHER])).toEqual({ outcome: "success", stderr: "" });

    // A cache of its own: npx keeps what it installs.
    const npx = ["npx", "--yes", "--cache", join(folder, wanted, "cache"), "--package", tarball];
    const { stdout } = await runWith(node, [...npx, "tutti", "--version"], folder);
    expect(stdout).toBe(`${version}\n`);
  });
});
