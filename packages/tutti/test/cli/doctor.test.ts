// `tutti doctor` with a PATH and a home folder that contain only the programs and files of the test.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lab, processesOf } from "../lab/lab.ts";
import type { Check } from "../../src/doctor/check.ts";
import { diagnose } from "../../src/doctor/diagnose.ts";
import { openLocalEngine } from "../../src/main/local-engine.ts";
import { FORMAT } from "../../src/store/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
const SECRET = "canary-never-to-be-shown";
const NO_LOGINS = {
  ANTHROPIC_API_KEY: "",
  ANTHROPIC_AUTH_TOKEN: "",
  CLAUDE_CODE_OAUTH_TOKEN: "",
  CLAUDE_CONFIG_DIR: "",
  OPENAI_API_KEY: "",
  CODEX_API_KEY: "",
  CODEX_HOME: "",
  GEMINI_API_KEY: "",
  GOOGLE_API_KEY: "",
};

let lab: Lab;
let bin: string;
let home: string;
let env: Record<string, string>;
beforeEach(() => {
  lab = new Lab();
  bin = join(lab.folder, "bin");
  home = join(lab.folder, "home");
  for (const folder of [bin, home]) mkdirSync(folder);
  symlinkSync(execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim(), join(bin, "git"));
  env = { ...NO_LOGINS, PATH: bin, HOME: home };
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

/** Puts a shell script on the PATH of the test. */
function program(name: string, script: string): void {
  const file = join(bin, name);
  rmSync(file, { force: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function homeFile(name: string, content: object, mode = 0o600): void {
  const file = join(home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
  chmodSync(file, mode);
}

/** Lists every file and folder with its size and modification time. */
function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => ({ name, stat: statSync(join(folder, name)) }))
    .map(({ name, stat }) => `${name} ${stat.isDirectory() ? "" : stat.size} ${stat.mtimeMs}`)
    .toSorted();
}

const named = (checks: readonly Check[], name: string): Check | undefined => checks.find((each) => each.name === name);

async function doctor(more: Record<string, string> = {}) {
  const { code, stdout, stderr, last } = await lab.json(["doctor"], { ...env, ...more });
  const { ok, checks } = last as unknown as { ok: boolean; checks: Check[] };
  return { code, printed: stdout + stderr, ok, checks };
}

/** Runs `diagnose` in this process. */
async function diagnoseHere(options: { dataDir?: string; timeoutMs?: number } = {}) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return diagnose({ dataDir: lab.data, version: "0.0.0", ...options });
}

describe("tutti doctor", () => {
  it("finds programs, versions and logins, prints no secret, and writes nothing", async () => {
    // Each program fails if it receives input, a secret, or a writable folder of the user.
    program("claude", '[ -z "$ANTHROPIC_API_KEY" ] && ! read line && echo "2.1.400 (Claude Code)"');
    program("codex", '[ "$CODEX_HOME" = /dev/null ] && echo "codex-cli 0.166.0"');
    program("gemini", '[ "$GEMINI_CLI_HOME" = /dev/null ] && echo 0.99.1 && echo "noise 1.2.3" >&2');
    program("bwrap", "echo bubblewrap 0.8.0");
    program("goose", "exit 1");
    homeFile(".codex/auth.json", { OPENAI_API_KEY: SECRET });
    homeFile(".gemini/oauth_creds.json", { access_token: SECRET, expiry_date: 1000 });
    const filesBefore = everything(lab.folder);

    const { code, printed, ok, checks } = await doctor({ ANTHROPIC_API_KEY: SECRET });

    expect([code, ok]).toEqual([0, true]);
    expect(printed).not.toContain(SECRET);
    expect(everything(lab.folder)).toEqual(filesBefore);
    expect(named(checks, "node")!.found).toContain(process.versions.node);
    expect(named(checks, "git")).toMatchObject({ status: "ok", found: expect.stringMatching(/^\d+\.\d+/) });
    expect(named(checks, "agent claude")!.found).toContain(`2.1.400 at ${join(bin, "claude")}`);
    expect(named(checks, "agent claude")!.advice ?? "").not.toContain("not tested");
    expect(named(checks, "agent codex")!.found).toContain(`0.166.0 at ${join(bin, "codex")}`);
    expect(named(checks, "agent gemini")).toMatchObject({
      status: "warning",
      found: `0.99.1 at ${join(bin, "gemini")}`,
      advice: expect.stringMatching(/^Tutti is not tested with this version\. Install 0\.61\.x/),
    });
    expect(named(checks, "agent goose")!.found).toContain("not tested");
    expect(named(checks, "agent opencode")).toBeUndefined();
    expect(named(checks, "login claude")).toMatchObject({
      status: "ok",
      found: "seems to be logged in: ANTHROPIC_API_KEY is set",
    });
    expect(named(checks, "login codex")).toMatchObject({
      status: "ok",
      found: `seems to be logged in: ${join(home, ".codex/auth.json")} exists (mode 600)`,
    });
    expect(named(checks, "login gemini")).toMatchObject({
      status: "warning",
      found: expect.stringContaining("expired at 1970-01-01"),
    });
    expect(named(checks, "sandbox")).toMatchObject({ status: "ok", found: expect.stringContaining("0.8.0") });
    expect(named(checks, "sqlite")!.found).toMatch(/^SQLite 3\./);
  });

  it("reports broken, missing and outdated programs with advice, exits with 1, and creates no folder", async () => {
    program("git", "echo git version 2.30.2");
    program("claude", 'echo "Error: claude native binary not installed. Either postinstall did not run" >&2; exit 1');
    program("bwrap", '[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit; echo "bwrap: no permissions" >&2; exit 1');
    const { code, stdout } = await lab.tutti(["doctor"], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^missing {2}git +2\.30\.2 at \S+, which is too old\n +Install git 2\.38 or newer/m);
    expect(stdout).toMatch(/^warning {2}agent claude +\S+ does not print its version: .*native binary not installed/m);
    expect(stdout).toMatch(/^ +Install it again without --ignore-scripts/m);
    expect(stdout).toMatch(/^missing {2}agent codex +not found on the PATH\n +To use it: npm install/m);
    expect(stdout).toMatch(/^missing {2}login claude +no login found/m);
    expect(stdout).toMatch(/^warning {2}sandbox +.* does not work: .*: bwrap: no permissions\n.*whatever you can/m);
    expect(stdout).toMatch(/^ok +data folder +\S+, which will be created/m);
    expect(stdout).toMatch(/Tutti cannot work here[^\n]*\n$/);
    expect(existsSync(lab.data)).toBe(false);
  });

  it("stops waiting for a program that hangs, and ends all its processes", async () => {
    program("claude", "/bin/sleep 1000 & /bin/sleep 1000");
    homeFile(".claude/.credentials.json", { claudeAiOauth: { expiresAt: 1000, refreshToken: SECRET } }, 0o644);
    const { checks } = await diagnoseHere({ timeoutMs: 1000 });
    expect(named(checks, "agent claude")).toMatchObject({
      status: "warning",
      found: `${join(bin, "claude")} does not print its version: it gave no answer within 1 s`,
    });
    await expect.poll(() => processesOf(bin)).toEqual([]);
    // A login with a refresh token has not expired, but other users can read the file.
    expect(named(checks, "login claude")).toMatchObject({
      status: "warning",
      advice: expect.stringContaining("chmod 600"),
    });
    expect(JSON.stringify(checks)).not.toContain(SECRET);
  });

  it("reports that git is missing and that Tutti cannot work", async () => {
    rmSync(join(bin, "git"));
    const { ok, checks } = await diagnoseHere();
    expect(ok).toBe(false);
    expect(named(checks, "git")).toMatchObject({ status: "missing", found: "not found" });
  });
});

describe("the data folder check", () => {
  it("names the engine that runs on the folder, and changes no file", async () => {
    const local = openLocalEngine({ dataDir: lab.data });
    const { code, checks } = await doctor();
    expect(code).toBe(0);
    expect(named(checks, "engine")).toMatchObject({
      status: "ok",
      found: `one runs on the data folder: process ${process.pid}`,
      advice: expect.stringContaining("refused"),
    });
    expect(named(checks, "store")!.status).toBe("ok");
    // Copied while the engine runs, so the copy looks like the folder of a killed engine.
    const killed = join(lab.folder, "killed");
    cpSync(lab.data, killed, { recursive: true });
    await local.close();

    for (const folder of [lab.data, killed]) {
      const filesBefore = everything(folder);
      const after = await diagnoseHere({ dataDir: folder });
      expect(named(after.checks, "engine")!.found).toContain("none");
      expect(named(after.checks, "store")).toMatchObject({
        status: "ok",
        found: `format ${FORMAT} in ${join(folder, "tutti.db")}`,
      });
      expect(everything(folder)).toEqual(filesBefore);
    }
  });

  it("rejects a store of a newer Tutti, and warns of a token that other users can read", async () => {
    mkdirSync(lab.data);
    const file = join(lab.data, "tutti.db");
    await openSqliteStore(file).close();
    const db = new DatabaseSync(file);
    db.exec("PRAGMA user_version = 999");
    db.close();
    writeFileSync(join(lab.data, "token"), SECRET);
    chmodSync(join(lab.data, "token"), 0o644);
    const { ok, checks } = await diagnoseHere();
    expect(ok).toBe(false);
    expect(named(checks, "store")).toMatchObject({
      status: "missing",
      found: `format 999 in ${file}`,
      advice: expect.stringContaining("newer Tutti"),
    });
    expect(named(checks, "token")).toMatchObject({ status: "warning", advice: expect.stringContaining("chmod 600") });
    expect(JSON.stringify(checks)).not.toContain(SECRET);
  });

  it("rejects a damaged store", async () => {
    mkdirSync(lab.data);
    writeFileSync(join(lab.data, "tutti.db"), "no database at all ".repeat(100));
    const { ok, checks } = await diagnoseHere();
    expect([ok, named(checks, "store")!.status]).toEqual([false, "missing"]);
    expect(readFileSync(join(lab.data, "tutti.db"), "utf8")).toMatch(/^no database/);
  });

  it("rejects a file in place of the folder", async () => {
    writeFileSync(lab.data, "");
    const { ok, checks } = await diagnoseHere();
    expect(ok).toBe(false);
    expect(named(checks, "data folder")).toMatchObject({
      status: "missing",
      found: expect.stringContaining("is not a folder"),
      advice: expect.stringContaining("--data-dir"),
    });
  });

  it("warns of a small disk, and rejects a read-only one", () => {
    mkdirSync(lab.data);
    const script = 'mount -t tmpfs -o size=10m none "$1"; d=$1; shift; "$@"; mount -o remount,ro "$d"; "$@"';
    const command = [process.execPath, LAUNCHER, "--json", "--data-dir", lab.data, "doctor"];
    const unshare = process.getuid!() === 0 ? ["-m"] : ["-Urm"];
    const result = spawnSync("unshare", [...unshare, "sh", "-c", script, "sh", lab.data, ...command], {
      encoding: "utf8",
      env: { ...process.env, ...NO_LOGINS, HOME: home },
    });
    expect(result.status, result.stderr).toBe(1);
    const [small, locked] = result.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { ok: boolean; checks: Check[] });
    expect(small!.ok).toBe(true);
    expect(named(small!.checks, "free space")).toMatchObject({
      status: "warning",
      found: expect.stringMatching(/^0\.0 GB/),
    });
    expect(locked!.ok).toBe(false);
    expect(named(locked!.checks, "data folder")).toMatchObject({
      status: "missing",
      found: expect.stringContaining("cannot be used: EROFS"),
    });
  });
});
