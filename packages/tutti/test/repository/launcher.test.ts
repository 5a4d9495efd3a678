import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const launcher = join(import.meta.dirname, "../../bin/tutti.js");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-launcher-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Versions of Node that are too old: a simulated one, and a real one if the machine has it. */
const oldNodes = [{ name: "a Node that says it is 20.20.2", version: "20.20.2", command: pretendToBe("20.20.2") }];
const foundNode = findOldNode();
if (foundNode !== undefined) oldNodes.push(foundNode);

function pretendToBe(version: string): string[] {
  const code = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  return [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

function findOldNode() {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(directory, "node");
    if (directory.includes("node_modules") || !existsSync(file)) continue;
    const version = execFileSync(file, ["-p", "process.versions.node"], { encoding: "utf8" }).trim();
    const [major = 0, minor = 0] = version.split(".").map(Number);
    if (major < 22 || (major === 22 && minor < 18)) return { name: `Node ${version}`, version, command: [file] };
  }
  return undefined;
}

/** Creates a package around the launcher with `main` as its command line. Returns the launcher's path. */
function layOut({ main, where, pinned = false }: { main: string; where: "src" | "dist"; pinned?: boolean }): string {
  const root = mkdtempSync(join(folder, "layout-"));
  const home = join(root, "packages", "tutti");
  const entry = where === "src" ? "src/cli/main.ts" : "dist/cli/main.cjs";
  mkdirSync(join(home, entry, ".."), { recursive: true });
  cpSync(launcher, join(home, "bin", "tutti.js"));
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  writeFileSync(join(home, entry), where === "src" ? main : toCommonJs(main));
  if (pinned) {
    const node = join(root, "node_modules", ".bin", "node");
    mkdirSync(join(node, ".."), { recursive: true });
    writeFileSync(node, `#!/bin/sh\nPINNED=yes exec "${process.execPath}" "$@"\n`);
    chmodSync(node, 0o755);
  }
  return join(home, "bin", "tutti.js");
}

const toCommonJs = (main: string): string => `${main.replace("export ", "")}\nexports.main = main;`;

function start(command: string[], args: string[]) {
  const [file = "", ...options] = command;
  const { TUTTI_BUILD: _, ...env } = process.env;
  const child = spawn(file, [...options, ...args], { stdio: ["pipe", "pipe", "pipe"], env });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const exited = new Promise<typeof output & { code: number | null; signal: string | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ ...output, code, signal }));
  });
  const printed = (text: string) =>
    new Promise<void>((resolve) => {
      child.stdout.on("data", () => output.stdout.includes(text) && resolve());
    });
  return { child, exited, printed, output };
}

const echo = `export async function main(argv) {
  process.stdout.write(JSON.stringify({ argv, pinned: process.env.PINNED, node: process.versions.node }));
  process.stdin.setEncoding("utf8");
  for await (const text of process.stdin) process.stderr.write(text);
  return 7;
}`;

describe("on a Node that is new enough", () => {
  test.each(["src", "dist"] as const)(
    "the launcher runs main of %s with the arguments and exits with its code",
    async (where) => {
      const { child, exited } = start([process.execPath], [layOut({ main: echo, where }), "run", "a b", "--json"]);
      child.stdin.end("typed");
      const { code, stdout, stderr } = await exited;
      expect({ code, stderr }).toEqual({ code: 7, stderr: "typed" });
      expect(JSON.parse(stdout)).toEqual({ argv: ["run", "a b", "--json"], node: process.versions.node });
    },
  );

  test("the launcher itself loads none of Node's streams, which would make every command slower", async () => {
    const main = `export const main = async () => {
      const loaded = process.moduleLoadList.filter((name) => /readline|fs\\/streams/.test(name));
      require("node:fs").writeSync(1, JSON.stringify(loaded));
      return 0;
    };`;
    const { exited } = start([process.execPath], [layOut({ main, where: "dist" }), "list"]);
    expect(await exited).toMatchObject({ code: 0, stdout: "[]", stderr: "" });
  });

  test("with npm run, the launcher works in the caller's folder, not in that of the clone", async () => {
    const main = "export const main = async () => { console.log(process.cwd()); return 0; };";
    const clone = join(layOut({ main, where: "src" }), "../../../..");
    writeFileSync(
      join(clone, "package.json"),
      JSON.stringify({ scripts: { tutti: `"${process.execPath}" packages/tutti/bin/tutti.js` } }),
    );
    const { TUTTI_BUILD: _, ...env } = process.env;
    const options = { cwd: folder, env, encoding: "utf8" } as const;
    const printed = execFileSync("npm", ["--prefix", clone, "run", "-s", "tutti"], options);
    expect(printed.trim()).toBe(realpathSync(folder));
  });

  test("a database needs packages that an installed Tutti does not contain, which every command says", async () => {
    const build = join(import.meta.dirname, "../../../../scripts/build-program.mjs");
    const built = process.env["TUTTI_BUILD"] ?? execFileSync(process.execPath, [build], { encoding: "utf8" }).trim();
    const installed = mkdtempSync(join(folder, "installed-"));
    for (const name of ["bin", "package.json"])
      cpSync(join(launcher, "../..", name), join(installed, name), { recursive: true });
    cpSync(built, join(installed, "dist"), { recursive: true });
    const { peerDependencies } = JSON.parse(readFileSync(join(launcher, "../../package.json"), "utf8"));
    for (const command of ["serve", "worker", "hosts"]) {
      const args = ["--data-dir", join(installed, "data"), command, "--database-url", "postgres://u@127.0.0.1:1/x"];
      const { code, stderr } = await start([process.execPath, join(installed, "bin/tutti.js")], args).exited;
      expect(code).toBe(2);
      expect(stderr).toContain(`npm install pg@${peerDependencies.pg} pg-boss@${peerDependencies["pg-boss"]}`);
    }
  });

  test("the launcher prefers the source to the build", async () => {
    const file = layOut({ main: "export const main = async () => 3;", where: "src" });
    mkdirSync(join(file, "../../dist/cli"), { recursive: true });
    writeFileSync(join(file, "../../dist/cli/main.cjs"), "exports.main = async () => 4;");
    expect((await start([process.execPath], [file]).exited).code).toBe(3);
  });

  test("in a clone, the launcher uses a build only as long as it fits the sources", async () => {
    const file = layOut({ main: "export const main = async () => 3;", where: "src" });
    const root = join(file, "../../../..");
    cpSync(join(import.meta.dirname, "../../../../scripts/build-key.mjs"), join(root, "scripts/build-key.mjs"));
    writeFileSync(join(root, "package-lock.json"), "{}");
    const { currentBuild } = await import(join(root, "scripts/build-key.mjs"));
    const built = join(currentBuild(), "cli");
    mkdirSync(built, { recursive: true });
    writeFileSync(join(built, "main.cjs"), "exports.main = async () => 4;");
    expect((await start([process.execPath], [file]).exited).code).toBe(4);
    writeFileSync(join(file, "../../src/cli/main.ts"), "export const main = async (): Promise<number> => 5;");
    expect((await start([process.execPath], [file]).exited).code).toBe(5);
  });

  test("the launcher hides only the warning about SQLite", async () => {
    const main = `export async function main() {
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      process.emitWarning("Something else is an experimental feature", "ExperimentalWarning");
      process.emitWarning("old", { code: "OLD", type: "DeprecationWarning" });
      await import("node:sqlite");
      return 0;
    }`;
    const { stderr } = await start([process.execPath], [layOut({ main, where: "src" })]).exited;
    expect(stderr).not.toContain("SQLite");
    expect(stderr).toContain("ExperimentalWarning: Something else");
    expect(stderr).toContain("[OLD] DeprecationWarning: old");
  });

  test("the launcher prints an unhandled error of main and exits with 1", async () => {
    const main = 'export async function main() { setInterval(() => {}, 1000); throw new Error("broken"); }';
    const { code, stderr } = await start([process.execPath], [layOut({ main, where: "src" })]).exited;
    expect(code).toBe(1);
    expect(stderr).toContain("Error: broken");
  });
});

describe("on a terminal, with a Node that is too old", () => {
  const counting = `export async function main() {
    let count = 0;
    process.on("SIGINT", () => count++);
    process.stdout.write("launcher " + process.ppid + "\\n");
    while (count === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 800));
    process.stdout.write("received " + count + "\\n");
    return 0;
  }`;

  test("main receives an interrupt once, whether it is typed or sent to the launcher only", async () => {
    const file = layOut({ main: counting, where: "src", pinned: true });
    const command = ["exec", ...oldNodes[0]!.command.map((word) => `'${word}'`), file].join(" ");
    for (const how of ["typed", "sent"]) {
      const { child, exited, printed, output } = start(["script"], ["-qec", command, "/dev/null"]);
      await printed("launcher ");
      if (how === "typed") child.stdin.write("\u0003");
      else process.kill(Number(/launcher (\d+)/.exec(output.stdout)![1]), "SIGINT");
      const { stdout, code } = await exited;
      expect([how, /received (\d)/.exec(stdout)?.[1], code]).toEqual([how, "1", 0]);
    }
  });
});

describe.each(oldNodes)("on $name", ({ command, version }) => {
  test.each([
    ["installed", { where: "dist", pinned: true }],
    ["in a checkout without the pinned Node", { where: "src", pinned: false }],
  ] as const)("%s, the launcher prints one sentence and exits with 1", async (_title, layout) => {
    const result = await start(command, [layOut({ main: echo, ...layout }), "--help"]).exited;
    expect(result).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `Node ${version} is too old for tutti. Install Node 22.18 or newer.\n`,
    });
  });

  test("in a checkout, the launcher restarts with the pinned Node", async () => {
    const file = layOut({ main: echo, where: "src", pinned: true });
    const { child, exited } = start(command, [file, "run", "a b", ""]);
    child.stdin.end("typed");
    const { code, stdout, stderr } = await exited;
    expect({ code, stderr }).toEqual({ code: 7, stderr: "typed" });
    expect(JSON.parse(stdout)).toEqual({ argv: ["run", "a b", ""], pinned: "yes", node: process.versions.node });
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s reaches main, whose exit code is used", async (signal) => {
    const main = `export const main = () => new Promise((resolve) => {
      const timer = setInterval(() => {}, 1000);
      process.once("${signal}", () => { clearInterval(timer); resolve(42); });
      console.log("ready");
    });`;
    const { child, exited, printed } = start(command, [layOut({ main, where: "src", pinned: true })]);
    await printed("ready");
    child.kill(signal);
    expect(await exited).toMatchObject({ code: 42, signal: null });
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends both processes", async (signal) => {
    const main = `export const main = () => new Promise(() => {
      setInterval(() => {}, 1000);
      console.log("ready " + process.pid + ".");
    });`;
    const { child, exited, printed, output } = start(command, [layOut({ main, where: "src", pinned: true })]);
    await printed(".");
    const pid = Number(/ready (\d+)/.exec(output.stdout)?.[1]);
    expect(pid).not.toBe(child.pid);
    child.kill(signal);
    expect(await exited).toMatchObject({ code: 130, signal: null });
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("SIGKILL ends both processes", async () => {
    const main = `export const main = () => new Promise(() => {
      setInterval(() => {}, 1000);
      console.log("ready " + process.pid + ".");
    });`;
    const { child, exited, printed } = start(command, [layOut({ main, where: "src", pinned: true })]);
    await printed(".");
    child.kill("SIGKILL");
    // The pipes of `child` close when the last process that holds them ends.
    expect(await exited).toMatchObject({ code: null, signal: "SIGKILL" });
  });
});
