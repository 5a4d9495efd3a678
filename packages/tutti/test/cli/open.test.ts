// The dashboard and `tutti serve` beside a command that already works on the data folder.
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab, processesOf, type Finished } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

interface Started {
  child: ChildProcess;
  end: Promise<Finished>;
  /** Waits for an address behind `words` on stdout. */
  address: (words: string) => Promise<URL>;
}

function start(args: string[], env?: Record<string, string>): Started {
  const child = lab.start(args, env);
  let shown = "";
  child.stdout!.on("data", (text: string) => (shown += text));
  const address = async (words: string) => {
    const find = () => new RegExp(`${words} (http\\S+)`).exec(shown)?.[1];
    await expect.poll(find).toBeDefined();
    return new URL(find()!);
  };
  return { child, end: finished(child), address };
}

/** Starts a run whose only task waits for `gate`, and returns when its worker is at work. */
async function startRun(gate: { file: string }): Promise<Started & { id: string }> {
  const task = worker("a", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) });
  const agent = lab.scenario([...mainSession([{ id: "a" }]), task]);
  const started = start(["run", "x", "--cwd", lab.repo, "--agent", agent, "--yes"]);
  const events = () => (existsSync(join(lab.data, "tutti.db")) ? lab.events() : []);
  const worked = () => events().find(({ type }) => type === "worker:started")?.run ?? undefined;
  await expect.poll(worked).toBeDefined();
  return { ...started, id: worked()! };
}

async function call({ origin, searchParams }: URL, path: string, method = "GET", token = searchParams.get("token")) {
  const response = await fetch(`${origin}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const refusesConnections = async ({ origin }: URL): Promise<boolean> =>
  fetch(`${origin}/api/health`).then(
    () => false,
    () => true,
  );

const statusAt = async (address: URL, id: string): Promise<unknown> =>
  (await call(address, `/api/runs/${id}`)).json["status"];

async function liveClients({ origin, searchParams }: URL): Promise<number> {
  const headers = { authorization: `Bearer ${searchParams.get("token")}` };
  const text = await (await fetch(`${origin}/metrics`, { headers })).text();
  return Number(/^tutti_live_clients (\d+)$/m.exec(text)?.[1]);
}

const engineProcess = (): number =>
  (JSON.parse(readFileSync(join(lab.data, "engine.json"), "utf8")) as { pid: number }).pid;

describe("tutti open", () => {
  it("opens the dashboard of the command that works, with the access rules of a server, until that command ends", async () => {
    const gate = lab.gate();
    const run = await startRun(gate);
    const browser = join(lab.folder, "browser");
    writeFileSync(browser, `#!/bin/sh\necho "$1" > ${browser}.url\n`);
    chmodSync(browser, 0o755);
    const opened = await lab.json(["open", run.id.slice(5, 12)], { BROWSER: browser });
    expect(opened).toMatchObject({ code: 0, last: { openUrl: expect.stringContaining(`#/runs/${run.id}`) } });
    const { openUrl } = opened.last as unknown as { openUrl: string };
    await expect.poll(() => existsSync(`${browser}.url`)).toBe(true);
    await expect.poll(() => readFileSync(`${browser}.url`, "utf8")).toBe(`${openUrl}\n`);

    const address = new URL(openUrl);
    const page = await fetch(openUrl, { redirect: "manual" });
    expect([page.status, page.headers.get("set-cookie")]).toMatchObject([303, expect.stringContaining("HttpOnly")]);
    expect(await statusAt(address, run.id)).toBe("running");
    expect((await call(address, `/api/runs/${run.id}`, "GET", "wrong")).status).toBe(401);
    const foreign = await fetch(`${address.origin}/api/health`, { headers: { origin: "http://evil.example" } });
    expect(foreign.status).toBe(403);
    // A second command shows the same dashboard.
    expect((await lab.tutti(["open"])).stdout).toContain(`dashboard: ${address.origin}/?token=`);
    expect((await call(address, `/api/runs/${run.id}/cancel`, "POST")).status).toBe(200);
    expect((await run.end).code).toBe(1);
    expect(await refusesConnections(address)).toBe(true);
    expect(lab.leftovers()).toEqual([]);
  });

  it("is the server itself while nothing works on the folder; other commands use it", async () => {
    const first = start(["open"]);
    const address = await first.address("dashboard:");
    expect((await call(address, "/api/runs")).status).toBe(200);
    expect((await lab.tutti(["open"])).stdout).toContain(address.href);
    const second = await lab.json(["serve", "--port", "0"]);
    expect(second).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    first.child.kill("SIGINT");
    expect((await first.end).code).toBe(0);
  });

  it("of a run that does not exist is exit 3", async () => {
    expect(await lab.json(["open", "nope"])).toMatchObject({ code: 3, last: { error: { code: "run_not_found" } } });
  });
});

describe("tutti serve beside a command that works", () => {
  it("serves its runs, and continues them on the same port with the same sessions when it is interrupted", async () => {
    const gate = lab.gate();
    const run = await startRun(gate);
    const server = start(["serve", "--port", "0"]);
    const address = await server.address("listening on");
    expect(await statusAt(address, run.id)).toBe("running");
    expect((await call(address, `/api/runs/${run.id}`, "GET", "wrong")).status).toBe(401);
    expect(engineProcess()).toBe(run.child.pid);
    // A command finds the server by its file, and its run outlives both commands.
    const attached = start(["attach", run.id]);
    // Without it, the command could start while no process has the engine, and open the engine itself.
    await expect.poll(() => liveClients(address)).toBe(1);
    run.child.kill("SIGINT");
    const ended = await run.end;
    expect([ended.code, ended.stdout]).toMatchObject([130, expect.stringContaining("continues on the server")]);
    await expect.poll(engineProcess).toBe(server.child.pid);
    await expect.poll(() => statusAt(address, run.id).catch(() => null)).toBe("running");
    gate.open();
    await expect.poll(() => statusAt(address, run.id)).toBe("completed");
    expect((await attached.end).code).toBe(0);
    expect(lab.events().filter(({ type }) => type === "worker:started")).toHaveLength(1);
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    expect(lab.leftovers()).toEqual([]);
  });

  it("takes over from a killed command", async () => {
    const gate = lab.gate();
    const run = await startRun(gate);
    const server = start(["serve", "--port", "0"]);
    const address = await server.address("listening on");
    run.child.kill("SIGKILL");
    await run.end;
    await expect.poll(() => statusAt(address, run.id).catch(() => null)).toBe("running");
    gate.open();
    await expect.poll(() => statusAt(address, run.id)).toBe("completed");
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
  });

  it("closes its port when it is stopped, and the command works on", async () => {
    const gate = lab.gate();
    const run = await startRun(gate);
    const server = start(["serve", "--port", "0", "--token", "secret-of-mine"]);
    const address = await server.address("listening on");
    expect(address.searchParams.get("token")).toBe("secret-of-mine");
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    await expect.poll(() => refusesConnections(address)).toBe(true);
    gate.open();
    expect((await run.end).code).toBe(0);
    expect(processesOf(lab.folder)).toEqual([]);
  });
});
