// Programs of the system that tests need. As root they are installed from Debian's packages. Without one of them its tests
// are skipped with a reason, and with `CI=true` they fail.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "vitest";

export interface RequiredProgram {
  name: string;
  /** Debian's packages. */
  packages: readonly string[];
  /** Returns its path or name, or null if it is missing or does not work here. */
  find: () => string | null;
  /** The reason why its tests are skipped, with a remedy. */
  advice: string;
}

const APT = "/usr/bin/apt-get";

export const findOrInstall = (program: RequiredProgram): string | null => provide([program])[0]!;

/** Installs all that are missing at once. */
export function provide(programs: readonly RequiredProgram[]): (string | null)[] {
  const missing = programs.filter(({ find }) => find() === null).flatMap(({ packages }) => packages);
  if (missing.length > 0) install(missing);
  return programs.map(({ find }) => find());
}

/** Wraps the body of a test that needs `program`. */
export function withProgram(program: RequiredProgram, act: (found: string) => Promise<void> | void) {
  return async (context: TestContext): Promise<void> => {
    const found = program.find();
    if (found === null) return skipWithout(program, context);
    await act(found);
  };
}

export function skipWithout({ advice }: RequiredProgram, context: TestContext): void {
  if (process.env["CI"] === "true") throw new Error(advice);
  context.skip(advice);
}

/** Returns the first of `names` in a folder of `PATH`. */
export function findOnPath(...names: string[]): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || !existsSync(APT)) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync(APT, args, { env, stdio: "ignore" }).status === 0;
  const options = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
  if (apt("update")) apt("install", ...options, ...new Set(packages));
}
