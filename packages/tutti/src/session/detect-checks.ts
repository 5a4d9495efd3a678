import { statSync } from "node:fs";
import { join } from "node:path";
import { parseRecord, recordOf } from "./json-fields.ts";
import { readForeignFile } from "../foreign-file.ts";
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
  const scripts = scriptsIn(cwd);
  if (scripts.length > 0) return scripts;
  const makefile = readText(join(cwd, "Makefile")) ?? "";
  const targets = ["build", "lint", "test"].filter((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(makefile));
  if (targets.length > 0) return targets.map((name) => ({ name, run: `make ${name}` }));
  for (const [file, ...commands] of PROJECTS) if (isFile(join(cwd, file))) return commands;
  return [];
}

function scriptsIn(cwd: string): CheckCommand[] {
  const text = readText(join(cwd, "package.json"));
  if (text === null) return [];
  const scripts = recordOf(parseRecord(text)["scripts"]);
  const manager = managerOf(cwd);
  return SCRIPTS.filter((name) => typeof scripts[name] === "string" && !NO_TEST.test(scripts[name])).map((name) => ({
    name,
    run: `${manager} run ${name}`,
  }));
}

function managerOf(cwd: string): string {
  if (isFile(join(cwd, "pnpm-lock.yaml"))) return "pnpm";
  return isFile(join(cwd, "yarn.lock")) ? "yarn" : "npm";
}

/** The agents may have put anything in the place of `file`. */
function readText(file: string): string | null {
  try {
    return readForeignFile(file);
  } catch {
    return null;
  }
}

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
