// Facts about processes, from `/proc` and from `ps`. Systems without `/proc` have only the second.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession } from "../lab/scenarios.ts";
import { waitUntil } from "../lab/wait-until.ts";
import { findMarked, identify, isAlive, sweep } from "../../src/session/process.ts";
import { processTable } from "../../src/session/process-table.ts";

const NAME = "TUTTI_TEST_MARK";
let counter = 0;
let mark: string;
let started: ChildProcess[];

/** Starts a program in a process group of its own. */
function start(program: string, args: string[], env: Record<string, string> = { [NAME]: mark }): ChildProcess {
  const child = spawn(program, args, {
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], ...env },
  });
  started.push(child);
  return child;
}

/** Resolves with the pids that a script prints. */
async function pidsOf(child: ChildProcess, count: number): Promise<number[]> {
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (part: string) => (text += part));
  await waitUntil(() => text.split("\n").length > count);
  return text.trim().split("\n").map(Number);
}

beforeEach(() => {
  mark = `mark_${process.pid}_${++counter}`;
  started = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await sweep(() => findMarked(NAME, mark), sleep);
  for (const child of started) child.kill("SIGKILL");
});

describe.each(["proc", "ps"])("with the process table %s", (table) => {
  beforeEach(() => vi.stubEnv("TUTTI_PROCESS_TABLE", table));

  it("a process has a parent, a group, a name, a state and processor time", async () => {
    const script =
      "while (process.cpuUsage().user < 1.2e6) for (let i = 0; i < 1e7; i++); process.stdin.resume(); console.log(1)";
    const busy = start(process.execPath, ["-e", script]);
    await once(busy.stdout!, "data");
    const [entry] = processTable().read([busy.pid!]);
    expect(entry).toMatchObject({ pid: busy.pid, parent: process.pid, group: busy.pid });
    // Newer versions of Node name their main thread.
    expect(["node", "MainThread", "node-MainThread"]).toContain(entry!.name);
    expect(entry!.cpuMs).toBeGreaterThanOrEqual(1000);
    expect(entry!.cpuMs).toBeLessThan(60_000);
    expect(entry!.state).toMatch(/^[RSDI]$/);
    expect(processTable().read([])).toEqual([]);
  });

  it("an identity is that of a living process, and of no later process with its pid", async () => {
    const child = start("sleep", ["1000"]);
    const identity = identify(child.pid!)!;
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, startTime: String(Number(identity.startTime) - 5) })).toBe(false);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    expect(isAlive(identity)).toBe(false);
    expect(identify(child.pid!)).toBeNull();
  });

  it("a zombie is not alive", async () => {
    // The shell becomes a program that never waits for its child, which ends only then.
    const parent = start("sh", ["-c", "while grep -qs sh /proc/$$/comm; do :; done & echo $!; exec sleep 1000"]);
    const [zombie] = await pidsOf(parent, 1);
    await waitUntil(() => identify(zombie!) === null);
    expect(readFileSync(`/proc/${zombie}/stat`, "latin1")).toMatch(/\) Z /);
  });

  it("marked processes are found and killed in every group, and no others", async () => {
    const other = start("sleep", ["1000"], { [NAME]: `${mark}x` });
    const shell = start("sh", ["-c", "setsid sleep 1000 & sleep 1000 & echo $$; wait"]);
    const [leader] = await pidsOf(shell, 1);
    await waitUntil(() => findMarked(NAME, mark).length === 3);
    expect(findMarked(NAME, mark)).toContain(leader);
    await sweep(() => findMarked(NAME, mark), sleep);
    expect(findMarked(NAME, mark)).toEqual([]);
    expect(identify(other.pid!)).not.toBeNull();
  });
});

describe("without /proc", () => {
  beforeEach(() => vi.stubEnv("TUTTI_PROCESS_TABLE", "ps"));

  it("the groups and the children of marked processes are found, even if their environment is hidden", async () => {
    const script = "env -i sleep 1000 & echo $!; setsid env -i sh -c 'echo $$; sleep 1000; :' & wait";
    const hidden = await pidsOf(start("sh", ["-c", script]), 2);
    await waitUntil(() => hidden.every((pid) => findMarked(NAME, mark).includes(pid)));
    await sweep(() => findMarked(NAME, mark), sleep);
    expect(hidden.filter((pid) => identify(pid) !== null)).toEqual([]);
  });

  it("the group of the caller is not taken for one of a marked child", async () => {
    const child = spawn("sleep", ["1000"], { env: { PATH: process.env["PATH"], [NAME]: mark } });
    started.push(child);
    await waitUntil(() => findMarked(NAME, mark).length > 0);
    expect(findMarked(NAME, mark)).toEqual([child.pid]);
  });

  it("a run that is killed with its engine is adopted and completed, and leaves no process", async () => {
    const lab = new Lab();
    try {
      const gate = lab.gate();
      const [main, ...rest] = mainSession([{ id: "a" }, { id: "b" }]);
      const agent = lab.scenario([
        main!,
        ...rest,
        { ...goodWorker, turns: goodWorker.turns.map((turn) => ({ ...turn, waitForFile: gate.file })) },
      ]);
      const env = { TUTTI_PROCESS_TABLE: "ps" };
      const first = lab.start(["run", "Do it", "--agent", agent, "--cwd", lab.repo, "--yes"], env);
      const isWorking = () => lab.events().filter(({ type }) => type === "worker:started").length === 2;
      await waitUntil(() => isOpen(isWorking));
      first.kill("SIGKILL");
      await once(first, "exit");
      gate.open();
      const id = lab.events().find(({ run }) => run !== null)!.run!;
      const { code, stdout, stderr } = await lab.tutti(["attach", id, "--json"], env);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({ outcome: "success" });
      // Adopted, not attempted again.
      expect(lab.events().filter(({ type }) => type === "worker:started")).toHaveLength(2);
      expect(lab.leftovers()).toEqual([]);
    } finally {
      lab.tearDown();
    }
  });

  it("only these files name /proc, and each asks `hasProc` first or can do without it", () => {
    const sources = join(import.meta.dirname, "../../src");
    const naming = globSync("**/*.ts", { cwd: sources }).filter((file) =>
      /["`]\/proc/.test(readFileSync(join(sources, file), "utf8")),
    );
    // The sandbox exists on Linux only.
    const allowed = ["durable-file.ts", "environment-fault.ts", "session/process-table.ts"];
    expect(naming.toSorted()).toEqual([...allowed, "session/sandbox/sandbox-command.ts"]);
  });
});

/** False while the database does not exist yet. */
function isOpen(condition: () => boolean): boolean {
  try {
    return condition();
  } catch {
    return false;
  }
}
