import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckCommand } from "../schema/template.ts";

/** `SCRIPTS` of `package.json`, in the order in which they run. */
const SCRIPTS = ["build", "lint", "test"];
/** `PROJECTS` lists files that identify a kind of project, with its commands. */
const PROJECTS: readonly (readonly [file: string, ...commands: CheckCommand[]])[] = [
  ["Cargo.toml", { name: "test", run: "cargo test" }],
  ["go.mod", { name: "build", run: "go build ./..." }, { name: "test", run: "go test ./..." }],
  ["pyproject.toml", { name: "test", run: "python -m pytest" }],
  ["pom.xml", { name: "test", run: "mvn --batch-mode test" }],
  ["build.gradle", { name: "test", run: "gradle test" }],
];
/** `NO_TEST` matches the test script that `npm init` writes. */
const NO_TEST = /no test specified/;

/** Returns the build, lint and test commands that the files of a project suggest. Empty if there are none. */
export async function detectChecks(cwd: string): Promise<CheckCommand[]> {
  const scripts = await scriptsIn(cwd);
  if (scripts.length > 0) return scripts;
  const makefile = (await readText(join(cwd, "Makefile"))) ?? "";
  const targets = ["build", "lint", "test"].filter((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(makefile));
  if (targets.length > 0) return targets.map((name) => ({ name, run: `make ${name}` }));
  for (const [file, ...commands] of PROJECTS) if ((await readText(join(cwd, file))) !== null) return commands;
  return [];
}

async function scriptsIn(cwd: string): Promise<CheckCommand[]> {
  const text = await readText(join(cwd, "package.json"));
  if (text === null) return [];
  let scripts: Record<string, unknown>;
  try {
    scripts = (JSON.parse(text) as { scripts?: Record<string, unknown> }).scripts ?? {};
  } catch {
    return [];
  }
  const manager = await managerOf(cwd);
  return SCRIPTS.filter((name) => typeof scripts[name] === "string" && !NO_TEST.test(scripts[name])).map((name) => ({
    name,
    run: `${manager} run ${name}`,
  }));
}

async function managerOf(cwd: string): Promise<string> {
  if ((await readText(join(cwd, "pnpm-lock.yaml"))) !== null) return "pnpm";
  return (await readText(join(cwd, "yarn.lock"))) === null ? "npm" : "yarn";
}

const readText = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);
