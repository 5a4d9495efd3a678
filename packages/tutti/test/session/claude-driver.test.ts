import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listen, SessionLab } from "./session-lab.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import { findDriver } from "../../src/session/agents.ts";
import { claudeDriver } from "../../src/session/drivers/claude.ts";
import type { SessionSpec } from "../../src/session/session.ts";

let folder: string;
let userFolder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-claude-"));
  userFolder = join(folder, "own");
  mkdirSync(userFolder);
  vi.stubEnv("CLAUDE_CONFIG_DIR", userFolder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const { driver, rest } = findDriver("claude");

const spec = (sessionId: string): SessionSpec => ({
  sessionId,
  runId: "run",
  role: "worker",
  taskId: "t",
  attempt: 1,
  agent: "claude",
  cwd: join(folder, "a folder"),
  permissions: DEFAULT_PERMISSIONS,
});

const launch = (sessionId = "s", given: Record<string, string> = {}) =>
  driver.launch(rest, spec(sessionId), join(folder, sessionId), { ...process.env, ...given });

test("The claude driver rejects an agent whose program is not on the PATH", () => {
  vi.stubEnv("PATH", join(folder, "bin"));
  expect(() => driver.check(rest, folder)).toThrow(/claude/);
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/claude"), "#!/bin/sh\n");
  chmodSync(join(folder, "bin/claude"), 0o755);
  expect(() => driver.check(rest, folder)).not.toThrow();
});

test("The claude driver starts the program with the model of the task", () => {
  const { command } = driver.launch(rest, { ...spec("s"), model: "opus" }, join(folder, "s"), process.env);
  expect(command.join(" ")).toContain(" --model opus ");
  expect(launch().command).not.toContain("--model");
});

test("The claude driver starts one process without a shell, with a conversation id derived from the session", () => {
  const { mode, command } = launch();
  expect([mode, claudeDriver.dialogue, command[0]]).toEqual(["stream", "claude", "claude"]);
  const flags = command.join(" ");
  for (const flag of [
    "-p --verbose --input-format stream-json --output-format stream-json",
    "--include-partial-messages --replay-user-messages --permission-prompt-tool stdio --permission-mode default",
    "--setting-sources user --strict-mcp-config",
  ])
    expect(flags).toContain(flag);
  expect(command[command.indexOf("--add-dir") + 1]).toBe(join(folder, "a folder"));
  expect(command.at(-2)).toBe("--session-id");
  expect(command.at(-1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(launch().command).toEqual(command);
  expect(launch("other").command.at(-1)).not.toBe(command.at(-1));
});

test("The claude driver passes the user's keys by name, no sandbox marker, and a separate configuration folder", () => {
  const { env, defaults, passEnv } = launch();
  expect(passEnv).toEqual(expect.arrayContaining(["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"]));
  expect([...passEnv!, ...Object.keys({ ...env, ...defaults })]).not.toContain("IS_SANDBOX");
  // The keys of Amazon and Google reach only an agent that uses them.
  const [aws, google] = ["AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"];
  for (const name of [aws, google, "OPENAI_API_KEY"]) expect(passEnv).not.toContain(name);
  const withSwitch = (name: string) =>
    launch("s", { [name]: "1" }).passEnv!.filter((each) => each === aws || each === google);
  expect(withSwitch("CLAUDE_CODE_USE_BEDROCK")).toEqual([aws]);
  expect(withSwitch("CLAUDE_CODE_USE_VERTEX")).toEqual([google]);
  expect(env).toMatchObject({ CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" });
  expect(defaults).toMatchObject({ DISABLE_AUTOUPDATER: "1" });
  expect(env!["CLAUDE_CONFIG_DIR"]).toBe(join(folder, "s/claude"));
  expect(launch("other").env!["CLAUDE_CONFIG_DIR"]).not.toBe(env!["CLAUDE_CONFIG_DIR"]);
});

test("The login stays in the user's folder, settings are copied, and only the login part of the state is copied", () => {
  writeFileSync(join(userFolder, ".credentials.json"), "{}", { mode: 0o600 });
  writeFileSync(join(userFolder, "settings.json"), '{"model":"opus"}');
  const state = { oauthAccount: { id: 1 }, mcpServers: { mine: { command: "x" } }, projects: {} };
  writeFileSync(join(userFolder, ".claude.json"), JSON.stringify(state));
  const { CLAUDE_CONFIG_DIR: at, CLAUDE_SECURESTORAGE_CONFIG_DIR: login } = launch().env as Record<string, string> & {
    CLAUDE_CONFIG_DIR: string;
  };
  expect(login).toBe(userFolder);
  expect(existsSync(join(at, ".credentials.json"))).toBe(false);
  writeFileSync(join(at, "settings.json"), "{}");
  expect(readFileSync(join(userFolder, "settings.json"), "utf8")).toBe('{"model":"opus"}');
  expect(JSON.parse(readFileSync(join(at, ".claude.json"), "utf8"))).toEqual({ oauthAccount: { id: 1 } });
  expect(statSync(at).mode & 0o777).toBe(0o700);
  expect(statSync(join(at, ".claude.json")).mode & 0o777).toBe(0o600);
});

test("An adopted session keeps its changed configuration", () => {
  writeFileSync(join(userFolder, "settings.json"), "{}");
  writeFileSync(join(userFolder, "CLAUDE.md"), "Be kind.");
  const at = launch().env!["CLAUDE_CONFIG_DIR"]!;
  writeFileSync(join(at, ".claude.json"), '{"mine":1}');
  writeFileSync(join(at, "settings.json"), '{"changed":1}');
  rmSync(userFolder, { recursive: true });
  expect(launch().env!["CLAUDE_CONFIG_DIR"]).toBe(at);
  expect(readFileSync(join(at, ".claude.json"), "utf8")).toBe('{"mine":1}');
  expect(readFileSync(join(at, "settings.json"), "utf8")).toBe('{"changed":1}');
  expect(lstatSync(join(at, "CLAUDE.md")).isSymbolicLink()).toBe(true);
});

test("Claude Code starts without any configuration of the user", () => {
  rmSync(userFolder, { recursive: true });
  const at = launch().env!["CLAUDE_CONFIG_DIR"]!;
  expect(existsSync(join(at, ".claude.json"))).toBe(true);
});

test("CLAUDE_CONFIG_DIR of the agents is the source of the session's configuration", () => {
  const named = join(folder, "named");
  mkdirSync(named);
  writeFileSync(join(named, "settings.json"), '{"model":"named"}');
  writeFileSync(join(userFolder, "settings.json"), '{"model":"own"}');
  const { env } = launch("s", { CLAUDE_CONFIG_DIR: named });
  expect(env).toMatchObject({ CLAUDE_CONFIG_DIR: join(folder, "s/claude"), CLAUDE_SECURESTORAGE_CONFIG_DIR: named });
  expect(readFileSync(join(folder, "s/claude/settings.json"), "utf8")).toBe('{"model":"named"}');
});

test("The user's variables override defaults, and reserved variables are rejected", async () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "claude"), `#!/bin/sh\nenv > "${join(folder, "seen")}"\n`);
  chmodSync(join(bin, "claude"), 0o755);
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
  const lab = new SessionLab();
  try {
    const given = { CLAUDE_CODE_MAX_RETRIES: "9", CLAUDE_CONFIG_DIR: userFolder };
    const host = lab.newHost({ agentEnv: given });
    expect(() => host.check("claude", lab.cwd)).not.toThrow();
    await listen(host.open(lab.spec("claude")), ({ type }) => type === "gone");
    const seen = readFileSync(join(folder, "seen"), "utf8").split("\n");
    expect(seen).toContain("CLAUDE_CODE_MAX_RETRIES=9");
    expect(seen).toContain("DISABLE_AUTOUPDATER=1");
    expect(seen).toContain(`CLAUDE_SECURESTORAGE_CONFIG_DIR=${userFolder}`);
    for (const name of ["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "TUTTI_TASK_ID"]) {
      const strict = lab.newHost({ agentEnv: { [name]: "0" } });
      for (const attempt of [() => strict.check("claude", lab.cwd), () => strict.open(lab.spec("claude"))])
        expect(attempt).toThrow(`The variable ${name} cannot be set for the agent "claude"`);
    }
  } finally {
    lab.tearDown();
  }
});
