// `tutti serve` as a real process.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab, type Finished } from "../lab/lab.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

interface Running {
  child: ChildProcess;
  end: Promise<Finished>;
  port: string;
  call: (method: string, path: string, body?: object) => Promise<{ status: number; json: Record<string, unknown> }>;
}

describe("tutti serve", () => {
  let lab: Lab;
  beforeEach(() => {
    lab = new Lab();
  });
  afterEach(() => lab.tearDown());

  async function serve(...flags: string[]): Promise<Running> {
    const child = lab.start(["serve", "--port", "0", ...flags]);
    const end = finished(child);
    let shown = "";
    const address = await new Promise<URL>((resolve, reject) => {
      child.stdout!.on("data", (text: string) => {
        shown += text;
        const found = /listening on (http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/.exec(shown);
        if (found) resolve(new URL(found[1]!));
      });
      child.on("close", () => reject(new Error(shown)));
    });
    const call = async (method: string, path: string, body?: object) => {
      const headers = {
        authorization: `Bearer ${address.searchParams.get("token")}`,
        "content-type": "application/json",
      };
      const response = await fetch(`${address.origin}${path}`, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, json: (await response.json()) as Record<string, unknown> };
    };
    return { child, end, call, port: address.port };
  }

  const create = async ({ call }: Running, agent: string): Promise<string> => {
    const { status, json } = await call("POST", "/api/orchestrator", {
      templateId: "_default",
      cwd: lab.repo,
      message: "x",
      agent,
      autoStart: true,
    });
    expect(status).toBe(201);
    return json["orchestratorId"] as string;
  };
  const until = async ({ call }: Running, id: string, status: string) => {
    while ((await call("GET", `/api/orchestrator/${id}`)).json["status"] !== status) await sleep(50);
  };

  it("runs a request over REST, with the token from a file that only its owner can read", async () => {
    const server = await serve();
    expect(statSync(join(lab.data, "token")).mode & 0o777).toBe(0o600);
    const id = await create(server, lab.scenario([...mainSession([{ id: "one" }, { id: "two" }]), goodWorker]));
    await until(server, id, "confirming");
    expect((await server.call("POST", `/api/orchestrator/${id}/confirm-tasks`)).status).toBe(200);
    await until(server, id, "completed");
    expect((await server.call("GET", `/api/orchestrator/${id}/result`)).json).toMatchObject({
      outcome: "success",
      census: { planned: 2, completed: 2 },
    });
    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    expect(lab.leftovers()).toEqual([]);
  });

  it("ends its agents on SIGTERM, and continues the run at the next start", async () => {
    const first = await serve();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      { match: { role: "worker", attempt: 1 }, turns: [{ then: "hang" }] },
      goodWorker,
    ]);
    const id = await create(first, agent);
    await until(first, id, "confirming");
    await first.call("POST", `/api/orchestrator/${id}/confirm-tasks`);
    await until(first, id, "running");
    first.child.kill("SIGTERM");
    expect((await first.end).code).toBe(0);
    expect(lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
    const second = await serve();
    await until(second, id, "completed");
    second.child.kill("SIGTERM");
    await second.end;
    expect(lab.leftovers()).toEqual([]);
  });

  it("adopts agents that outlived a SIGKILL, and accepts their results", async () => {
    const first = await serve();
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("*", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) }),
    ]);
    const id = await create(first, agent);
    await until(first, id, "confirming");
    await first.call("POST", `/api/orchestrator/${id}/confirm-tasks`);
    await until(first, id, "running");
    first.child.kill("SIGKILL");
    await first.end;
    const second = await serve();
    gate.open();
    await until(second, id, "completed");
    const attempts = lab.events().filter(({ type }) => type === "worker:spawning");
    expect(attempts).toHaveLength(1);
    second.child.kill("SIGINT");
    expect((await second.end).code).toBe(0);
    expect(lab.leftovers()).toEqual([]);
  });

  it("uses the folders and the rate limit of its flags instead of the configuration", async () => {
    mkdirSync(lab.data, { recursive: true });
    const settings = { server: { rateLimit: 1, folders: [lab.folder] } };
    writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify(settings));
    const server = await serve("--rate-limit", "3", "--folders", join(lab.repo, "src"), join(lab.repo, "docs"));
    const body = { templateId: "_default", cwd: lab.repo, message: "x", agent: "local" };
    const { status, json } = await server.call("POST", "/api/orchestrator", body);
    expect([status, json["error"]]).toEqual([403, expect.objectContaining({ code: "forbidden" })]);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await server.call("GET", "/api/inbox")).status);
    expect(statuses).toEqual([200, 200, 429]);
    server.child.kill("SIGTERM");
    await server.end;
  });

  it("is refused beyond loopback without an explicit token, and on a port in use", async () => {
    const refused = await lab.json(["serve", "--port", "0", "--host", "0.0.0.0"]);
    expect(refused).toMatchObject({ code: 2, last: { error: { code: "usage" } } });
    const server = await serve();
    expect((await server.call("GET", "/api/health")).json).toEqual({ status: "ok", version: "0.1.0" });
    const onUsedPort = await lab.json(["--data-dir", join(lab.folder, "other"), "serve", "--port", server.port]);
    expect(onUsedPort).toMatchObject({ code: 4, last: { error: { code: "port_in_use" } } });
    server.child.kill("SIGTERM");
    await server.end;
  });
});
