// Packs Tutti as `npm publish` would, and installs the package as a user does.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";
import { Lab } from "../lab/lab.ts";

export const ROOT = join(import.meta.dirname, "../../../..");
/** Parts of the repository that the build needs. */
const PARTS = [
  "package.json",
  "package-lock.json",
  "README.md",
  "LICENSE",
  "tsconfig.base.json",
  ".npmrc",
  "scripts",
  "packages",
];
const LEFT_OUT = new Set(["test", "bench", "node_modules", "dist", ".build"]);
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EIDLETIMEOUT/;
const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

const execute = promisify(execFile);

/** Builds and packs a copy of the sources in `folder`, so that no build appears in the repository. */
export function packTutti(folder: string): string {
  const copy = join(folder, "sources");
  mkdirSync(copy);
  for (const part of PARTS) {
    cpSync(join(ROOT, part), join(copy, part), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !LEFT_OUT.has(basename(path)),
    });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const args = ["pack", "--json", "--pack-destination", folder];
  const cwd = join(copy, "packages/tutti");
  const output = execFileSync("npm", args, { cwd, env: npmEnv(), encoding: "utf8", stdio: "pipe" });
  const [packed] = JSON.parse(output) as { filename: string }[];
  return join(folder, packed!.filename);
}

/** Installs packages with npm. Skips the test if the registry cannot be reached and npm has no copy of its own. */
export async function npmInstall(context: TestContext, args: readonly string[], cwd: string): Promise<void> {
  try {
    await execute("npm", [...INSTALL, ...args], { cwd, env: npmEnv() });
  } catch (error) {
    if (NO_REGISTRY.test(String(error))) context.skip("the npm registry cannot be reached");
    throw error;
  }
}

/** Runs a program with `node` first on the path. */
export async function runWith(node: string, command: readonly string[], cwd: string) {
  const env = { ...npmEnv(), PATH: `${dirname(node)}${delimiter}${process.env["PATH"]}`, HOME: dirname(cwd) };
  const [program = "", ...args] = command;
  return execute(program, args, { cwd, env, maxBuffer: 64e6 });
}

/** Documents a small project with the built-in agent: keepers, workers, git and SQLite. Returns what Tutti printed. */
export async function runOnce(node: string, tutti: readonly string[]): Promise<{ outcome: string; stderr: string }> {
  const lab = new Lab({
    "package.json": '{ "name": "small" }\n',
    "lib/add.js": "export const add = (a, b) => a + b;\n",
  });
  try {
    const args = ["--data-dir", lab.data, "run", "Document it", "--agent", "local", "--yes", "--json"];
    const { stdout, stderr } = await runWith(node, [...tutti, ...args], lab.repo);
    const { outcome } = JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as { outcome: string };
    return { outcome, stderr };
  } finally {
    lab.tearDown();
  }
}

/** Vitest's `NODE_ENV` would build the dashboard in its development mode. */
function npmEnv(): NodeJS.ProcessEnv {
  const { NODE_ENV: _, ...env } = process.env;
  return { ...env, npm_config_update_notifier: "false" };
}

export const versionOf = (file: string): string =>
  (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
