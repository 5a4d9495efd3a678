// Commands beside a process that already works on the data folder: they reach its engine through `engine.sock`.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSocketClient } from "../../src/cli/access/socket-client.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { InProcessLab } from "./in-process.ts";
import { finished, processesOf, type Finished, type JsonLine } from "../lab/lab.ts";
import { onTerminal } from "../lab/terminal.ts";
import { done, goodWorker, mainSession, worker } from "../lab/scenarios.ts";

/** The engine has a process of its own. Commands beside it run in the process of the test, which is another one. */
function openLab(): InProcessLab {
  const opened = new InProcessLab();
  opened.playsAgents = false;
  return opened;
}

let lab: InProcessLab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.tearDown());

interface Command {
  child: ChildProcess;
  end: Promise<Finished>;
}

const linesOf = ({ stdout }: Finished): JsonLine[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonLine);

function begin(...args: string[]): Command {
  const child = lab.start(["--json", ...args]);
  return { child, end: finished(child) };
}

const run = (request: string, agent: string): Command =>
  begin("run", request, "--cwd", lab.repo, "--agent", agent, "--yes");

/** Waits for an event of the run with this request, and returns the id of the run. */
async function untilEvent(request: string, matches: (event: StoredEvent) => boolean): Promise<string> {
  const find = () => {
    const events = existsSync(join(lab.data, "tutti.db")) ? lab.events() : [];
    const created = events.find((event) => event.type === "orchestrator:created" && event.data.userRequest === request);
    return created && events.some((event) => event.run === created.run && matches(event)) ? created.run! : undefined;
  };
  await expect.poll(find).toBeDefined();
  return find()!;
}

/** The process that `engine.json` names as the holder of the lock. */
const engineProcess = (): number =>
  (JSON.parse(readFileSync(join(lab.data, "engine.json"), "utf8")) as { pid: number }).pid;

const count = (id: string, type: string): number =>
  lab.events().filter((event) => event.run === id && event.type === type).length;

const gated = (task: string, file: string) =>
  worker(task, { waitForFile: file, write: { [`${task}.md`]: task }, block: done({}) });

describe("while tutti run works", () => {
  it("every other command reaches its engine", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([
      ...mainSession([{ id: "a" }, { id: "b" }, { id: "c" }]),
      gated("a", gate.file),
      {
        match: { role: "worker", task: "b", attempt: 1 },
        turns: [{ block: { phase: "completion", data: { task_id: "b", status: "failed", error: "no" } } }],
      },
      worker("c", { then: "ask:Which?" }, { write: { "c.md": "c" }, block: done({}) }),
      goodWorker,
    ]);
    const first = run("x", agent);
    const id = await untilEvent("x", ({ type, data }) => type === "inbox:added" && data.item.kind === "question");
    await expect.poll(() => existsSync(join(lab.data, "engine.sock"))).toBe(true);
    expect(statSync(join(lab.data, "engine.sock")).mode & 0o777).toBe(0o600);

    const asked = (await lab.json(["inbox"])).last as unknown as { id: string; kind: string }[];
    const answered = begin("answer", asked.find(({ kind }) => kind === "question")!.id, "this one");
    expect(await lab.json(["message", id, "Use British spelling", "--task", "a"])).toMatchObject({ code: 0 });
    await untilEvent("x", ({ type, data }) => type === "worker:failed" && data.taskId === "b");
    const retried = begin("retry", id, "b");
    await untilEvent("x", ({ type, data }) => type === "worker:completed" && data.taskId === "b");
    expect(await lab.json(["retry", id, "b"])).toMatchObject({ code: 4, last: { error: { code: "wrong_state" } } });
    expect(await lab.json(["pause", id])).toMatchObject({ code: 0, last: { status: "paused" } });
    // Without a terminal a command ends when its run is paused elsewhere.
    for (const { end } of [first, answered, retried]) expect((await end).code).toBe(4);
    gate.open();
    expect(await lab.json(["resume", id])).toMatchObject({ code: 0, last: { id, outcome: "success" } });
    expect(count(id, "message:sent")).toBe(1);
    expect(existsSync(join(lab.data, "engine.sock"))).toBe(false);
    expect(lab.leftovers()).toEqual([]);
  });

  it("its run can be deleted elsewhere, with the options of the other command", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const kept = run("x", agent);
    const keptId = await untilEvent("x", ({ type }) => type === "worker:started");
    expect(await lab.json(["delete", keptId, "--keep-state"])).toMatchObject({ code: 0, last: { removed: false } });
    expect((await kept.end).code).toBe(1);
    expect((await lab.json(["status", keptId])).last).toMatchObject({ status: "cancelled" });

    const deleted = run("y", agent);
    const deletedId = await untilEvent("y", ({ type }) => type === "worker:started");
    expect(await lab.json(["delete", deletedId])).toMatchObject({ code: 0, last: { removed: true } });
    expect((await deleted.end).code).toBe(1);
    expect((await lab.json(["status", deletedId])).code).toBe(3);
    expect(lab.leftovers()).toEqual([]);
  });

  it("a terminal follows a run on that is paused and resumed elsewhere", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const child = onTerminal(["--data-dir", lab.data, "run", "x", "--yes", "--cwd", lab.repo, "--agent", agent]);
    const closed = once(child, "close") as Promise<[number]>;
    let shown = "";
    child.stdout.on("data", (text: string) => (shown += text));
    const id = await untilEvent("x", ({ type }) => type === "worker:started");
    expect(await lab.json(["pause", id])).toMatchObject({ code: 0 });
    await expect.poll(() => shown).toContain("the run is paused by the user");
    gate.open();
    expect(await lab.json(["resume", id])).toMatchObject({ code: 0, last: { id, outcome: "success" } });
    expect((await closed)[0]).toBe(0);
  });

  it("a second run works in its engine, and continues with the same session after the first process has ended", async () => {
    const gates = [lab.gate("first"), lab.gate("second")];
    const agents = gates.map(({ file }, i) =>
      lab.scenario([...mainSession([{ id: "a" }]), gated("a", file)], `scenario-${i}.json`),
    );
    const first = run("x", agents[0]!);
    const firstId = await untilEvent("x", ({ type }) => type === "worker:started");
    const second = run("y", agents[1]!);
    const secondId = await untilEvent("y", ({ type }) => type === "worker:started");
    expect(engineProcess()).toBe(first.child.pid);
    expect((await lab.json(["list"])).last).toMatchObject([{ status: "running" }, { status: "running" }]);
    gates[0]!.open();
    const ended = await first.end;
    expect([ended.code, linesOf(ended).at(-1)]).toMatchObject([0, { id: firstId, outcome: "success" }]);
    await expect.poll(engineProcess).toBe(second.child.pid);

    // The process that took over is reachable as well.
    expect(await lab.json(["message", secondId, "Use British spelling", "--task", "a"])).toMatchObject({ code: 0 });
    gates[1]!.open();
    const continued = await second.end;
    expect([continued.code, linesOf(continued).at(-1)]).toMatchObject([0, { id: secondId, outcome: "success" }]);
    expect(count(secondId, "worker:started")).toBe(1);
    expect(linesOf(continued).filter(({ type }) => type === "worker:completed")).toHaveLength(1);
    expect(lab.leftovers()).toEqual([]);
  });

  it("a run without a follower is interrupted with the process, and another command continues it", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const first = run("x", agent);
    const firstId = await untilEvent("x", ({ type }) => type === "worker:started");
    const second = begin("run", "y", "--cwd", lab.repo, "--agent", agent, "--yes");
    const secondId = await untilEvent("y", ({ type }) => type === "worker:started");
    second.child.kill("SIGINT");
    expect((await second.end).code).toBe(130);
    expect((await lab.json(["status", secondId])).last).toMatchObject({ status: "running" });
    expect(await lab.json(["cancel", firstId])).toMatchObject({ code: 0, last: { outcome: "cancelled" } });
    expect((await first.end).code).toBe(1);
    gate.open();
    const attached = await lab.json(["attach", secondId]);
    expect([attached.code, attached.last]).toMatchObject([0, { outcome: "success" }]);
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("a process that took over", () => {
  it("continues the run of an interrupted terminal that it follows, and the terminal says so", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const child = lab.start(["run", "x", "--cwd", lab.repo, "--agent", agent, "--yes"]);
    const end = finished(child);
    const id = await untilEvent("x", ({ type }) => type === "worker:started");
    const attached = begin("attach", id);
    const { fetch } = createSocketClient(join(lab.data, "engine.sock"));
    const metrics = async () => (await fetch("http://engine.sock/metrics")).text();
    await expect.poll(metrics).toMatch(/^tutti_live_clients 1$/m);
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 130, stdout: expect.stringContaining("The run continues") });
    gate.open();
    const ended = await attached.end;
    expect([ended.code, linesOf(ended).at(-1)]).toMatchObject([0, { id, outcome: "success" }]);
    expect(count(id, "worker:started")).toBe(1);
  });

  it("ends its agents when it is interrupted, and another command continues the run", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const first = run("x", agent);
    const firstId = await untilEvent("x", ({ type }) => type === "worker:started");
    const second = run("y", agent);
    const secondId = await untilEvent("y", ({ type }) => type === "worker:started");
    expect(await lab.json(["cancel", firstId])).toMatchObject({ code: 0, last: { outcome: "cancelled" } });
    await first.end;
    await expect.poll(engineProcess).toBe(second.child.pid);
    second.child.kill("SIGINT");
    expect((await second.end).code).toBe(130);
    await expect.poll(() => processesOf(lab.folder)).toEqual([]);
    gate.open();
    expect(await lab.json(["attach", secondId])).toMatchObject({ code: 0, last: { outcome: "success" } });
  });
});

describe("a killed process", () => {
  it("leaves a socket that the next engine replaces; a command that used it becomes that engine", async () => {
    const gate = lab.gate();
    const agent = lab.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const first = run("x", agent);
    const firstId = await untilEvent("x", ({ type }) => type === "worker:started");
    const second = run("y", agent);
    const secondId = await untilEvent("y", ({ type }) => type === "worker:started");
    first.child.kill("SIGKILL");
    await first.end;
    await expect.poll(engineProcess).toBe(second.child.pid);
    // The run of the killed process rests in the new engine until a command continues it.
    const attached = begin("attach", firstId);
    gate.open();
    for (const [command, id] of [
      [second, secondId],
      [attached, firstId],
    ] as const) {
      const ended = await command.end;
      expect([ended.code, linesOf(ended).at(-1)]).toMatchObject([0, { id, outcome: "success" }]);
    }
    expect(lab.leftovers()).toEqual([]);
  });
});

describe("a data folder", () => {
  it("with a path that is too long for a socket is shared all the same", async () => {
    const long = openLab();
    const data = join(long.folder, "long-".repeat(20), "data");
    const gate = long.gate();
    const agent = long.scenario([...mainSession([{ id: "a" }]), gated("a", gate.file)]);
    const first = long.start(["--data-dir", data, "run", "x", "--cwd", long.repo, "--agent", agent, "--yes"]);
    const end = finished(first);
    await expect.poll(() => existsSync(join(data, "engine.sock"))).toBe(true);
    await expect
      .poll(async () => (await long.json(["--data-dir", data, "list"])).last)
      .toMatchObject([{ status: "running" }]);
    const [row] = (await long.json(["--data-dir", data, "list"])).last as unknown as { id: string }[];
    expect(await long.json(["--data-dir", data, "cancel", row!.id])).toMatchObject({
      code: 0,
      last: { outcome: "cancelled" },
    });
    expect((await end).code).toBe(1);
    long.tearDown();
  });

  it("whose process does not answer is refused with exit 4, its process and a remedy", async () => {
    const agent = lab.scenario([...mainSession([{ id: "a" }]), worker("a", { then: "hang" })]);
    const first = run("x", agent);
    const id = await untilEvent("x", ({ type }) => type === "worker:started");
    first.child.kill("SIGSTOP");
    const refused = await lab.json(["pause", id]);
    first.child.kill("SIGCONT");
    expect(refused).toMatchObject({ code: 4, last: { error: { code: "data_folder_in_use" } } });
    expect(refused.last.error!.message).toContain(`"kill ${first.child.pid}"`);
    expect(await lab.json(["cancel", id])).toMatchObject({ code: 0 });
    expect((await first.end).code).toBe(1);
  });
});
