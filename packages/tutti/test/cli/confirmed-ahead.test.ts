// `--yes` belongs to the run: it outlives the command that gave it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished, Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

const stored = () => (existsSync(join(lab.data, "tutti.db")) ? lab.events() : []);
const count = (type: string): number => stored().filter((event) => event.type === type).length;
const untilStored = (type: string, least = 1) => expect.poll(() => count(type)).toBeGreaterThanOrEqual(least);

/** Starts a command, and interrupts it when this many planning turns have started. */
async function interruptInPlanning(args: string[], turns: number): Promise<void> {
  const child = lab.start(args);
  const end = finished(child);
  const planning = () =>
    stored().filter(({ type, data }) => type === "turn:started" && data.phase === "taskPlanning").length;
  await expect.poll(planning).toBe(turns);
  child.kill("SIGINT");
  expect((await end).code).toBe(130);
}

describe("--yes", () => {
  it("of tutti run and tutti attach is kept when they are interrupted, and shows the plan", async () => {
    const gate = lab.gate();
    const [analysis, planning, ...rest] = mainSession([{ id: "a" }]);
    const slow = { ...planning!, turns: [{ waitForFile: gate.file, ...planning!.turns[0] }] };
    const agent = lab.scenario([analysis!, slow, ...rest, goodWorker]);
    const run = ["run", "x", "--cwd", lab.repo, "--agent", agent];
    await interruptInPlanning([...run, "--yes"], 1);
    const first = stored()[0]!.run!;
    gate.open();
    const attached = await lab.tutti(["attach", first]);
    expect([attached.code, attached.stderr]).toEqual([0, ""]);
    expect(attached.stdout).toContain("plan of 1 task:");
    expect(count("orchestrator:confirmedAhead")).toBe(0);
  });

  it("of tutti attach is an order to the run, which a server then carries out", async () => {
    const gate = lab.gate();
    const [analysis, planning, ...rest] = mainSession([{ id: "a" }]);
    const slow = { ...planning!, turns: [{ waitForFile: gate.file, ...planning!.turns[0] }] };
    const agent = lab.scenario([analysis!, slow, ...rest, goodWorker]);
    await interruptInPlanning(["run", "x", "--cwd", lab.repo, "--agent", agent], 1);
    const id = stored()[0]!.run!;
    await interruptInPlanning(["attach", id, "--yes"], 2);
    expect(count("orchestrator:confirmedAhead")).toBe(1);
    gate.open();
    const server = lab.start(["serve", "--port", "0"]);
    const end = finished(server);
    await untilStored("orchestrator:completed");
    server.kill("SIGTERM");
    await end;
    expect((await lab.json(["status", id])).last).toMatchObject({ outcome: "success" });
  });

  it("of a waiting plan confirms it, and an ended run is only shown", async () => {
    const agent = lab.scenario([...mainSession([{ id: "a" }]), goodWorker]);
    expect((await lab.json(["run", "x", "--cwd", lab.repo, "--agent", agent])).code).toBe(4);
    const id = stored()[0]!.run!;
    expect(await lab.json(["attach", id, "--yes"])).toMatchObject({ code: 0, last: { outcome: "success" } });
    expect(await lab.json(["attach", id, "--yes"])).toMatchObject({ code: 0, last: { outcome: "success" } });
    expect(count("orchestrator:confirmedAhead")).toBe(1);
  });
});
