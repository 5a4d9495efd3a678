// The end of a server with clients that do not cooperate: contract section 11.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab, processesOf, type Finished } from "../lab/lab.ts";
import { done, mainSession, worker } from "../lab/scenarios.ts";

describe("a server that receives SIGINT or SIGTERM", () => {
  let lab: Lab;
  const sockets: Socket[] = [];
  beforeEach(() => {
    lab = new Lab();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    lab.tearDown();
  });

  async function serve(...flags: string[]): Promise<{ child: ChildProcess; end: Promise<Finished>; address: URL }> {
    const child = lab.start(["serve", "--port", "0", ...flags]);
    const end = finished(child);
    let shown = "";
    const address = await new Promise<URL>((resolve, reject) => {
      child.stdout!.on("data", (text: string) => {
        shown += text;
        const found = /listening on (\S+)/.exec(shown);
        if (found) resolve(new URL(found[1]!));
      });
      void end.then(({ stderr }) => reject(new Error(stderr)));
    });
    return { child, end, address };
  }

  /** Sends raw HTTP, and then neither reads nor answers. */
  async function talk({ hostname, port, searchParams }: URL, head: string[], rest = ""): Promise<string> {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on("error", () => {});
    const bearer = `Authorization: Bearer ${searchParams.get("token")}`;
    socket.write([...head, `Host: ${hostname}:${port}`, bearer, "", rest].join("\r\n"));
    if (rest !== "") return "";
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    return answer.toString("latin1");
  }

  it("ends although clients neither read nor answer; with --leave-running the next server adopts the agents", async () => {
    const { child, end, address } = await serve("--leave-running");
    const call = (method: string, path: string, body?: object, from = address) =>
      fetch(`${from.origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${address.searchParams.get("token")}`, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }]),
      worker("one", { waitForFile: gate.file, write: { "a.md": "a" }, block: done({}) }),
    ]);
    const request = { templateId: "_default", cwd: lab.repo, message: "x", agent, autoStart: true };
    const created = await call("POST", "/api/orchestrator", { ...request, config: { autoSpawn: true } });
    const { orchestratorId: id } = (await created.json()) as { orchestratorId: string };
    const inTurn = () =>
      lab.events().some(({ type, data }) => type === "turn:started" && (data as { taskId: string }).taskId === "one");
    while (!inTurn()) await sleep(50);

    const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    expect(await talk(address, ["GET /api/events?after=0 HTTP/1.1", ...upgrade, key])).toContain("101 Switching");
    expect(await talk(address, ["GET /api/events?after=0 HTTP/1.1", "Accept: text/event-stream"])).toContain("200 OK");
    await talk(address, ["POST /api/inbox/x HTTP/1.1", "Content-Length: 1000"], '{"half":');
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 0, stderr: expect.stringContaining('"server stopped"') });
    expect(processesOf(lab.folder).some((line) => line.includes("player"))).toBe(true);

    gate.open();
    const second = await serve();
    const status = async () =>
      (await (await call("GET", `/api/orchestrator/${id}`, undefined, second.address)).json()) as object;
    for (;;) {
      const now = (await status()) as { status: string };
      if (now.status === "completed") break;
      await sleep(50);
    }
    expect(lab.events().filter(({ type }) => type === "worker:spawning")).toHaveLength(1);
    second.child.kill("SIGTERM");
    expect((await second.end).code).toBe(0);
    expect(lab.leftovers()).toEqual([]);
  });

  it("ends also if the keepers of its agents are stopped, and ends the agents (SIGTERM)", async () => {
    const { child, end, address } = await serve();
    const agent = lab.scenario([
      ...mainSession([{ id: "one" }, { id: "two" }]),
      worker("*", { waitForFile: lab.gate().file, write: { "a.md": "a" }, block: done({}) }),
    ]);
    const request = { templateId: "_default", cwd: lab.repo, message: "x", agent, autoStart: true };
    await fetch(`${address.origin}/api/orchestrator`, {
      method: "POST",
      headers: { authorization: `Bearer ${address.searchParams.get("token")}`, "content-type": "application/json" },
      body: JSON.stringify({ ...request, config: { autoSpawn: true } }),
    });
    const inTurn = (task: string) =>
      lab.events().some(({ type, data }) => type === "turn:started" && (data as { taskId: string }).taskId === task);
    while (!inTurn("one") || !inTurn("two")) await sleep(50);
    const keepers = globSync(join(lab.data, "sessions/*/*/keeper.json"));
    expect(keepers.length).toBeGreaterThanOrEqual(2);
    for (const file of keepers)
      process.kill((JSON.parse(readFileSync(file, "utf8")) as { pid: number }).pid, "SIGSTOP");
    child.kill("SIGTERM");
    expect(await end).toMatchObject({ code: 0, stderr: expect.stringContaining('"server stopped"') });
    expect(processesOf(lab.folder)).toEqual([]);
  });
});
