import { readdirSync } from "node:fs";
import { join } from "node:path";
import { missing, ok, warning, type Check } from "./check.ts";
import { packageFolder } from "../own-files.ts";
import { asTuttiError } from "../schema/error.ts";
import { sentence } from "../sentence.ts";
import { locateProgram } from "../session/probe-program.ts";
import { probeSandbox } from "../session/sandbox/probe-sandbox.ts";
import { OLDEST_GIT } from "../workspace/git.ts";
import { isTooOld, readGitVersion } from "../workspace/git-version.ts";

/** Never fails: `bin/tutti.js` refuses a Node that is too old before it loads this file. */
export function checkNode(version: string): Check {
  const found = sentence("Node {node} at {path} runs Tutti {version} from {folder}", {
    node: process.versions.node,
    path: process.execPath,
    version,
    folder: packageFolder,
  });
  return ok("node", found);
}

export async function checkGit(timeoutMs: number): Promise<Check> {
  const name = "git";
  const path = locateProgram("git");
  const advice = sentence("Install git {version} or newer. Workspaces and merges need it.", { version: OLDEST_GIT });
  if (path === null) return missing(name, sentence("not found"), advice);
  try {
    const version = await readGitVersion(timeoutMs);
    const found = sentence("{version} at {path}", {
      version: version === "" ? sentence("unknown version") : version,
      path,
    });
    if (version === "") return warning(name, found, advice);
    if (isTooOld(version)) return missing(name, sentence("{found}, which is too old", { found }), advice);
    return ok(name, sentence("{found}; user.name and user.email are not needed, Tutti commits as itself", { found }));
  } catch (error) {
    const found = sentence("{path}, which does not work: {detail}", { path, detail: asTuttiError(error).message });
    return missing(name, found, advice);
  }
}

export async function checkSandbox(timeoutMs: number): Promise<Check> {
  const name = "sandbox";
  const advice = sentence(
    "Install bubblewrap and allow user namespaces. Until then, use only agents that you trust: they can do whatever you can.",
  );
  const sandbox = await probeSandbox({ timeoutMs });
  if (sandbox === null) return missing(name, sentence("bubblewrap (bwrap) was not found"), advice);
  const version = `bubblewrap ${sandbox.version ?? ""}`.trim();
  const where = sentence("{version} at {path}", { version, path: sandbox.path });
  if (sandbox.problem === null) return ok(name, sentence("{where} works", { where }));
  return warning(name, sentence("{where} does not work: {detail}", { where, detail: sandbox.problem }), advice);
}

export function checkSqlite(): Check {
  return ok("sqlite", sentence("SQLite {version}, built into Node", { version: process.versions["sqlite"] ?? "" }));
}

export function checkPostgres(): Check {
  const name = "postgresql";
  const use = sentence("needed only to distribute work over several machines");
  const [psql, postgres] = ["psql", "postgres"].map((program) => locateProgram(program) ?? locateServer(program));
  const path = psql ?? postgres ?? null;
  if (path === null) return missing(name, sentence("not found; {use}", { use }));
  if (psql && postgres)
    return ok(name, sentence("psql at {psql}, postgres at {postgres}; {use}", { psql, postgres, use }));
  return ok(name, sentence("{program} at {path}; {use}", { program: psql ? "psql" : "postgres", path, use }));
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
