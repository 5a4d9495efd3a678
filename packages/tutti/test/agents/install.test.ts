// Tests the installer of the agent programs with a fake npm instead of a gigabyte of downloads.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentsFolder, installationFolder, isInstalled, markerName, pins } from "../../../../scripts/agents.mjs";

const installer = fileURLToPath(new URL("../../../../scripts/agents-install.mjs", import.meta.url));
/** Creates packages whose programs print the requested version. */
const goodNpm = `#!${process.execPath}
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
for (const [name, version] of Object.entries(JSON.parse(readFileSync("package.json", "utf8")).dependencies)) {
  const place = (file, text) => {
    mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
  };
  const program = "#!/bin/sh\\necho " + version + "\\n";
  const folder = "node_modules/" + name;
  const bin = { codex: "start", gemini: "start", "claude-agent-acp": "start", "codex-acp": "start", "mcp-inspector": "start" };
  place(folder + "/package.json", JSON.stringify({ bin }));
  place(folder + "/start", program);
  if (name.endsWith("claude-code")) place(folder + "-some-machine/claude", program);
}
`;

let folder: string;
let env: Record<string, string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-install-"));
  mkdirSync(join(folder, "path"));
  env = { TUTTI_AGENTS_DIR: join(folder, "agents"), PATH: [join(folder, "path"), "/usr/bin", "/bin"].join(":") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function install(npm: string) {
  writeFileSync(join(folder, "path", "npm"), npm, { mode: 0o755 });
  return spawnSync(process.execPath, [installer], { env, encoding: "utf8" });
}

test("every program is installed at its pinned version, and its path is printed", () => {
  const { status, stdout, stderr } = install(goodNpm);
  expect(status, stderr).toBe(0);
  for (const [name, { version }] of Object.entries(pins)) {
    const path = join(installationFolder(env), "bin", name);
    expect(stdout).toContain(`${name} ${version}: ${path}\n`);
    expect(spawnSync(join(agentsFolder(env), "bin", name), { encoding: "utf8" }).stdout).toBe(`${version}\n`);
  }
  expect(new Set(readdirSync(agentsFolder(env)))).toEqual(new Set(["bin", basename(installationFolder(env))]));
});

test("an existing installation is reused", () => {
  install(goodNpm);
  expect(install("#!/bin/sh\nexit 7\n").status).toBe(0);
});

test("an incomplete installation is discarded and repeated", () => {
  install(goodNpm);
  rmSync(join(installationFolder(env), markerName));
  // The folder of a killed process; no process has this id.
  const abandoned = join(agentsFolder(env), "stage-99999999");
  mkdirSync(abandoned);
  expect(isInstalled(env)).toBe(false);
  expect(install(goodNpm).status).toBe(0);
  expect(isInstalled(env)).toBe(true);
  expect(existsSync(abandoned)).toBe(false);
});

test("a program of another version is rejected, and nothing is left behind", () => {
  const { status, stderr } = install(goodNpm.replace('echo " + version', 'echo 0.0.1 #" + version'));
  expect(status).toBe(1);
  expect(stderr).toContain('reports version "0.0.1"');
  expect(readdirSync(agentsFolder(env))).toEqual([]);
});

test("the cache is below the user's cache folder", () => {
  expect(agentsFolder({ TUTTI_AGENTS_DIR: "/elsewhere" })).toBe("/elsewhere");
  expect(agentsFolder({ XDG_CACHE_HOME: "/caches" })).toBe("/caches/tutti/agents");
  expect(dirname(dirname(agentsFolder({})))).toMatch(/\.cache$/);
});
