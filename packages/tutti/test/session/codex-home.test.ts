import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findDriver } from "../../src/session/agents.ts";
import type { Launch } from "../../src/session/driver.ts";
import { codexDriver } from "../../src/session/drivers/codex.ts";
import type { SessionSpec } from "../../src/session/session.ts";

let folder: string;
let userFolder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-codex-"));
  userFolder = join(folder, "own");
  mkdirSync(userFolder);
  vi.stubEnv("CODEX_HOME", userFolder);
  vi.stubEnv("CODEX_API_KEY", undefined);
  vi.stubEnv("OPENAI_API_KEY", undefined);
  vi.stubEnv("OPENAI_BASE_URL", undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const launch = (name = "session", given: Record<string, string> = {}): Launch => {
  const { driver, rest } = findDriver("codex");
  return driver.launch(rest, {} as SessionSpec, join(folder, name), { ...process.env, ...given });
};

test("Each session has its own Codex home, which a second start does not change", () => {
  const { command, env } = launch("one");
  expect([command, codexDriver.dialogue]).toEqual([["codex", "app-server"], "codex"]);
  expect(env!["CODEX_HOME"]).toBe(join(folder, "one", "codex"));
  expect(launch("two").env!["CODEX_HOME"]).toBe(join(folder, "two", "codex"));
  expect(statSync(env!["CODEX_HOME"]!).mode & 0o777).toBe(0o700);
  writeFileSync(join(userFolder, "config.toml"), "# later\n");
  writeFileSync(join(folder, "one", "codex", "config.toml"), "# the session's\n");
  launch("one");
  expect(readFileSync(join(folder, "one", "codex", "config.toml"), "utf8")).toBe("# the session's\n");
});

test("The login is a link, so that all sessions share renewed tokens; the configuration is a copy", () => {
  writeFileSync(join(userFolder, "auth.json"), '{"tokens":1}');
  writeFileSync(join(userFolder, "config.toml"), 'model = "x"\n');
  for (const name of ["rules", "skills/mine", "skills/.system"]) mkdirSync(join(userFolder, name), { recursive: true });
  const home = launch().env!["CODEX_HOME"]!;
  writeFileSync(join(home, "auth.json"), '{"tokens":2}');
  writeFileSync(join(home, "config.toml"), "changed");
  expect(readFileSync(join(userFolder, "auth.json"), "utf8")).toBe('{"tokens":2}');
  expect(readFileSync(join(userFolder, "config.toml"), "utf8")).toBe('model = "x"\n');
  expect(lstatSync(join(home, "auth.json")).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(home, "skills"))).toEqual(["mine"]);
  // The run's permissions replace the user's command rules.
  expect(existsSync(join(home, "rules"))).toBe(false);
});

test("Only variables with keys of the chosen provider are passed on", () => {
  const lines = [
    'model_provider = "mine"',
    "[model_providers.mine]",
    'env_key = "MY_KEY"',
    'env_http_headers = { "X-Team" = "MY_TEAM", "X-Other" = \'MY_OTHER\' }',
    "[model_providers.second]",
    "env_key = 'SECOND_KEY'",
  ];
  writeFileSync(join(userFolder, "config.toml"), lines.join("\n"));
  const passed = launch().passEnv!;
  expect(passed).toEqual(expect.arrayContaining(["MY_KEY", "MY_TEAM", "MY_OTHER", "HTTPS_PROXY"]));
  for (const name of ["SECOND_KEY", "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "X-Team"])
    expect(passed, name).not.toContain(name);
});

test("The user's MCP servers do not start again for every session", () => {
  const tables = [
    "[mcp_servers.board]",
    'command = "board"',
    "[mcp_servers.board.env]",
    'X = "1"',
    "[mcp_servers.my-db]",
  ];
  writeFileSync(join(userFolder, "config.toml"), tables.join("\n"));
  const off = (name: string): string[] => ["-c", `mcp_servers.${name}.enabled=false`];
  expect(launch().command).toEqual(["codex", "app-server", ...off("board"), ...off("my-db")]);
});

test("A key in the environment applies without a login, and no key is written to a file", () => {
  vi.stubEnv("OPENAI_API_KEY", "secret");
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
  const { command, passEnv } = launch("key");
  expect(passEnv).toEqual(expect.arrayContaining(["OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTPS_PROXY"]));
  const flags = ["-c", "model_provider=openai-key", "-c"];
  expect(command).toEqual([
    ...["codex", "app-server"].concat(flags),
    'model_providers.openai-key={name="OpenAI",base_url="http://127.0.0.1:1/v1",env_key="OPENAI_API_KEY",wire_api="responses"}',
  ]);
  writeFileSync(join(userFolder, "auth.json"), "{}");
  expect(launch("login").command).toEqual(["codex", "app-server"]);
  expect(launch("login").passEnv).not.toContain("OPENAI_API_KEY");
  vi.stubEnv("CODEX_API_KEY", "secret too");
  expect(launch("stronger key").command.join(" ")).toContain('env_key="CODEX_API_KEY"');
  writeFileSync(join(userFolder, "config.toml"), 'model_provider = "openai"\n');
  expect(launch("as usual").command.join(" ")).toContain('env_key="CODEX_API_KEY"');
  writeFileSync(join(userFolder, "config.toml"), 'model_provider = "mine"\n');
  expect(launch("configured").command).toEqual(["codex", "app-server"]);
});

test("A home below TMPDIR gets another TMPDIR, because the sandbox refuses it otherwise", () => {
  expect(launch().env!["TMPDIR"]).toBe(join(folder, "session", "codex", "temporary"));
  vi.stubEnv("TMPDIR", join(folder, "elsewhere"));
  expect(launch("outside").env!["TMPDIR"]).toBeUndefined();
});

test("CODEX_HOME and the key of the agents are the source of the session's home", () => {
  const named = join(folder, "named");
  mkdirSync(named);
  writeFileSync(join(named, "config.toml"), "# named\n");
  writeFileSync(join(userFolder, "config.toml"), "# own\n");
  const { env, command } = launch("session", { CODEX_HOME: named, OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://m" });
  expect(env!["CODEX_HOME"]).toBe(join(folder, "session", "codex"));
  expect(readFileSync(join(folder, "session", "codex", "config.toml"), "utf8")).toBe("# named\n");
  expect(command.join(" ")).toContain('base_url="http://m",env_key="OPENAI_API_KEY"');
});
