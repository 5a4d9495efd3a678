// Commands next to a running server: they find it by themselves, or use `--url`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tutti, tuttiJson } from "./in-process.ts";
import { findServer } from "../../src/cli/access/server-file.ts";
import { finished, Lab, type Finished, type JsonLine } from "../lab/lab.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

async function serve(...flags: string[]) {
  const child = lab.start(["--json", "serve", "--port", "0", ...flags]);
  const end: Promise<Finished> = finished(child);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on("data", (text: string) => resolve((JSON.parse(text) as { url: string }).url));
    child.on("close", () => reject(new Error("the server did not start")));
  });
  return { child, end, url };
}

const here = (...args: string[]) => tuttiJson<JsonLine>(["--data-dir", lab.data, ...args]);
const run = (agent: string, ...more: string[]) => here("run", "x", "--cwd", lab.repo, "--agent", agent, ...more);

describe("a server on the same data folder", () => {
  it("is found by every command, runs their requests, and is not found any more after its end", async () => {
    const server = await serve();
    while (!existsSync(join(lab.data, "server.json"))) await sleep(20);
    const failing = worker("b", {
      block: { phase: "completion", data: { task_id: "b", status: "failed", error: "no" } },
    });
    const agent = lab.scenario([...mainSession([{ id: "a" }, { id: "b" }]), failing, goodWorker]);

    // Without a terminal and without `--yes` the plan stays open, and another command confirms it.
    const waiting = await run(agent);
    expect(waiting).toMatchObject({ code: 4, last: { error: { code: "needs_confirmation" } } });
    const id = (waiting.lines[0] as { run: string }).run;
    const prefix = id.slice(5, 11);
    expect((await here("list")).last).toMatchObject([{ id, status: "confirming", outcome: null }]);
    expect((await here("inbox")).last).toMatchObject([{ kind: "plan", run: id }]);
    expect((await here("status", prefix)).last).toMatchObject({ id, status: "confirming" });
    expect(await here("message", prefix, "Use British spelling", "--task", "a")).toMatchObject({ code: 0 });
    expect(await here("message", prefix, "x", "--task", "none")).toMatchObject({ code: 3 });
    expect(lab.events().filter(({ type }) => type === "message:sent")).toMatchObject([
      { run: id, data: { taskId: "a", text: "Use British spelling" } },
    ]);
    const confirmed = await here("confirm", prefix, "--skip", "b");
    expect(confirmed).toMatchObject({
      code: 0,
      last: { id, outcome: "success", census: { completed: 1, skipped: 1 } },
    });

    // A detached run can be read and followed to its end.
    const detached = await run(agent, "--yes", "--detach");
    expect(detached).toMatchObject({ code: 0, lines: [{ id: expect.stringMatching(/^orch_/) }] });
    const second = detached.last.id!;
    expect(await here("logs", second, "--follow")).toMatchObject({ code: 0 });
    const attached = await here("attach", second);
    expect(attached).toMatchObject({ code: 1, last: { id: second, outcome: "degraded" } });
    const [item] = (await here("inbox")).last as unknown as { id: string; kind: string }[];
    expect(item!.kind).toBe("failure");
    expect(await here("answer", item!.id.slice(5), "--option", "1")).toMatchObject({ code: 1, last: { id: second } });
    const taskLog = await here("logs", second, "--task", "a");
    expect(taskLog.lines.map((line) => line.type)).toEqual(
      expect.arrayContaining(["worker:spawning", "worker:completed", "prompt", "tool"]),
    );
    expect(await here("logs", second, "--task", "none")).toMatchObject({
      code: 3,
      last: { error: { code: "task_not_found" } },
    });
    const copy = await tutti(["--data-dir", lab.data, "export", second]);
    expect(JSON.parse(copy.stdout.split("\n")[0]!)).toMatchObject({ tutti: "run", run: second });

    // A client that stops following does not end the run.
    const hanging = lab.scenario([...mainSession([{ id: "slow" }]), worker("slow", { then: "hang" })], "hanging.json");
    const third = (await run(hanging, "--yes", "--detach")).last.id!;
    const child = lab.start(["attach", third]);
    const end = finished(child);
    while ((await here("status", third)).last.status !== "running") await sleep(50);
    // Once the client is connected, `attach` has installed its signal handler.
    const headers = { authorization: `Bearer ${readFileSync(join(lab.data, "token"), "utf8").trim()}` };
    const metrics = async () => (await fetch(`${server.url}/metrics`, { headers })).text();
    await expect.poll(metrics).toMatch(/^tutti_live_clients 1$/m);
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 130, stdout: expect.stringContaining("The run continues on the server") });
    expect((await here("status", third)).last.status).toBe("running");
    expect(await here("cancel", third)).toMatchObject({ code: 0, last: { id: third, outcome: "cancelled" } });
    expect(await here("delete", third)).toMatchObject({ code: 0 });

    // Refusals of the server reach the command with the same code.
    expect(await here("pause", second)).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    expect(await here("retry", second, "nothing")).toMatchObject({
      code: 3,
      last: { error: { code: "task_not_found" } },
    });
    expect(await run(agent, "--agent-env", "A=b")).toMatchObject({ code: 2, last: { error: { code: "usage" } } });
    expect(await run("nobody")).toMatchObject({ code: 3, last: { error: { code: "agent_unknown" } } });
    expect(await here("delete", second)).toMatchObject({ code: 0, last: { id: second, removed: true } });
    expect((await here("list")).last).toMatchObject([{ id }]);

    // From another data folder, with `--url` and `--token`.
    const elsewhere = ["--data-dir", join(lab.folder, "elsewhere"), "--url", server.url];
    expect(await tuttiJson([...elsewhere, "list"])).toMatchObject({
      code: 4,
      last: { error: { code: "unauthorized" } },
    });
    const token = readFileSync(join(lab.data, "token"), "utf8").trim();
    expect((await tuttiJson([...elsewhere, "--token", token, "list"])).last).toMatchObject([{ id }]);
    const shown = await tuttiJson([...elsewhere, "--token", token, "templates", "show", "documentation"]);
    expect(shown.last).toMatchObject({ id: "documentation" });
    expect(await tuttiJson([...elsewhere, "doctor"])).toMatchObject({ code: 2, last: { error: { code: "usage" } } });

    server.child.kill("SIGTERM");
    expect((await server.end).code).toBe(0);
    expect(existsSync(join(lab.data, "server.json"))).toBe(false);
    expect(await tuttiJson([...elsewhere, "list"])).toMatchObject({
      code: 5,
      last: { error: { code: "server_unreachable" } },
    });
    expect(await run(agent, "--detach")).toMatchObject({ code: 5, last: { error: { code: "server_unreachable" } } });
    expect(lab.leftovers()).toEqual([]);
  });

  it("that was killed is ignored: the next command opens its own engine on the log", async () => {
    const server = await serve("--token", "of-its-own");
    while (findServer(lab.data) === null) await sleep(20);
    expect(await here("list")).toMatchObject({ code: 4, last: { error: { code: "unauthorized" } } });
    expect(await here("--token", "of-its-own", "list")).toMatchObject({ code: 0, last: [] });
    vi.stubEnv("TUTTI_TOKEN", "of-its-own");
    const waiting = await run(lab.scenario([...mainSession([{ id: "a" }]), goodWorker]));
    const id = (waiting.lines[0] as { run: string }).run;
    // A command that follows a run fails when the server is gone.
    const requests = async (): Promise<number> => {
      const headers = { authorization: "Bearer of-its-own" };
      const metrics = await (await fetch(new URL("/metrics", server.url), { headers })).text();
      return Number(/route="\/api\/orchestrator\/:id\/events",status="200"} (\d+)/.exec(metrics)?.[1] ?? 0);
    };
    const before = await requests();
    const following = here("logs", id, "-f");
    await expect.poll(requests).toBeGreaterThan(before);
    server.child.kill("SIGKILL");
    await server.end;
    expect(await following).toMatchObject({ code: 5, last: { error: { code: "server_unreachable" } } });
    expect(existsSync(join(lab.data, "server.json"))).toBe(true);
    expect(findServer(lab.data)).toBe(null);
    expect(await here("message", id, "hello")).toMatchObject({ code: 0, last: { id, taskId: null, text: "hello" } });
    expect(await here("confirm", id)).toMatchObject({ code: 0, last: { outcome: "success" } });
    expect(await here("message", id, "too late")).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
  });
});

describe("server.json", () => {
  it("is ignored if another process has its pid, or if it is not valid", () => {
    lab.write("server.json", "{");
    expect(findServer(lab.repo)).toBe(null);
    const owner = { pid: process.pid, startTime: "1", bootId: "other" };
    writeFileSync(
      join(lab.repo, "server.json"),
      JSON.stringify({ url: "http://127.0.0.1:1", ownToken: false, process: owner }),
    );
    expect(findServer(lab.repo)).toBe(null);
  });
});
