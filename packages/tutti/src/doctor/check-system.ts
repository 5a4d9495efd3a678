import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "./check.ts";
import { packageFolder } from "../own-files.ts";
import { asTuttiError } from "../schema/error.ts";
import { locateProgram } from "../session/probe-program.ts";
import { probeSandbox } from "../session/sandbox/probe-sandbox.ts";
import { OLDEST_GIT } from "../workspace/git.ts";
import { isTooOld, readGitVersion } from "../workspace/git-version.ts";

/** Never fails: `bin/tutti.js` refuses a Node that is too old before it loads this file. */
export function checkNode(version: string): Check {
  const found = `Node ${process.versions.node} at ${process.execPath} runs Tutti ${version} from ${packageFolder}`;
  return { name: "node", status: "ok", found };
}

export async function checkGit(timeoutMs: number): Promise<Check> {
  const name = "git";
  const path = locateProgram("git");
  const advice = `Install git ${OLDEST_GIT} or newer. Workspaces and merges need it.`;
  if (path === null) return { name, status: "missing", found: "not found", advice };
  try {
    const version = await readGitVersion(timeoutMs);
    const found = `${version === "" ? "unknown version" : version} at ${path}`;
    if (version === "") return { name, status: "warning", found, advice };
    if (isTooOld(version)) return { name, status: "missing", found: `${found}, which is too old`, advice };
    return { name, status: "ok", found: `${found}; user.name and user.email are not needed, Tutti commits as itself` };
  } catch (error) {
    const found = `${path}, which does not work: ${asTuttiError(error).message}`;
    return { name, status: "missing", found, advice };
  }
}

export async function checkSandbox(timeoutMs: number): Promise<Check> {
  const name = "sandbox";
  const advice =
    "Install bubblewrap and allow user namespaces. Until then, use only agents that you trust: they can do whatever you can.";
  const sandbox = await probeSandbox({ timeoutMs });
  if (sandbox === null) return { name, status: "missing", found: "bubblewrap (bwrap) was not found", advice };
  const where = `bubblewrap ${sandbox.version ?? ""}`.trim() + ` at ${sandbox.path}`;
  if (sandbox.problem === null) return { name, status: "ok", found: `${where} works` };
  return { name, status: "warning", found: `${where} does not work: ${sandbox.problem}`, advice };
}

export function checkSqlite(): Check {
  return { name: "sqlite", status: "ok", found: `SQLite ${process.versions["sqlite"] ?? ""}, built into Node` };
}

export function checkPostgres(): Check {
  const name = "postgresql";
  const use = "needed only to distribute work over several machines";
  const found = ["psql", "postgres"].flatMap((program) => {
    const path = locateProgram(program) ?? locateServer(program);
    return path === null ? [] : [`${program} at ${path}`];
  });
  if (found.length === 0) return { name, status: "missing", found: `not found; ${use}` };
  return { name, status: "ok", found: `${found.join(", ")}; ${use}` };
}

/** Debian keeps the server programs off the PATH, in one folder per version. */
function locateServer(program: string): string | null {
  const root = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
    return versions.map((version) => locateProgram(join(root, version, "bin", program))).find(Boolean) ?? null;
  } catch {
    return null;
  }
}
