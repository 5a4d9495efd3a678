import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import { processTree } from "../lab/lab.ts";
import { identify } from "../../src/session/process.ts";

/** Echoes every line, and exits at the end of its input. */
const ECHO = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { text } = JSON.parse(line);
  console.log(JSON.stringify({ type: "assistant", text: "got " + text }));
  console.log(JSON.stringify({ type: "turn_end" }));
}`;

describe("A session under its keeper", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab();
  });
  afterEach(() => lab.tearDown());

  it("runs its turns in order in one process, and ends when it is closed", async () => {
    const session = lab.host.open(lab.spec(lab.program("command", ECHO)));
    const first = await oneTurn(session);
    expect(texts(first)).toBe("got do it");
    const all = await listen(
      session,
      (signal) => signal.type === "turnOver" && signal.turn === 2,
      async ({ type }) => {
        if (type === "caughtUp") await session.deliver(turn(2, "and more"));
      },
    );
    expect(texts(all)).toBe("got do itgot and more");
    await session.close();
    expect(lab.processes()).toEqual([]);
    const end = await listen(session, ({ type }) => type === "gone");
    expect(end.at(-1)).toEqual({ type: "gone", reason: "it was closed after its work", deliberate: true });
  });

  it("receives each turn once, also after repeated deliveries", async () => {
    const session = lab.host.open(lab.spec(lab.program("command", ECHO)));
    expect(session.wasDelivered(1)).toBe(false);
    await oneTurn(session);
    for (let i = 0; i < 3; i++) await session.deliver(turn(1));
    expect(session.wasDelivered(1)).toBe(true);
    await session.deliver(turn(2, "two"));
    const all = await listen(session, (signal) => signal.type === "turnOver" && signal.turn === 2);
    expect(texts(all)).toBe("got do itgot two");
    await session.stop();
  });

  it("is outside the engine's process tree and keeps running without a reader", async () => {
    const session = lab.host.open(lab.spec(lab.program("command", ECHO)));
    await oneTurn(session);
    const pids = lab.processes().map((line) => Number(line.split(" ")[0]));
    expect(pids).toHaveLength(2);
    const ours = new Set(processTree(process.pid));
    expect(pids.filter((pid) => ours.has(pid))).toEqual([]);
    session.leave();
    await sleep(300);
    expect(lab.processes()).toHaveLength(2);
    await session.stop();
  });

  it("is adopted by the next host with all signals, and starts nothing twice", async () => {
    const marks = join(lab.folder, "starts");
    const agent = lab.program(
      "command",
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(marks)}, "x");${ECHO}`,
    );
    const spec = lab.spec(agent);
    await oneTurn(lab.host.open(spec));
    const adopted = lab.newHost().open(spec);
    await adopted.deliver(turn(2, "again"));
    const all = await listen(adopted, (signal) => signal.type === "turnOver" && signal.turn === 2);
    expect(all.map(({ type }) => type).filter((type) => type !== "caughtUp")).toEqual([
      "ready",
      "sent",
      "text",
      "turnOver",
      "sent",
      "text",
      "turnOver",
    ]);
    expect(readFileSync(marks, "utf8")).toBe("x");
    await adopted.stop();
  });

  it("starts once even if many hosts open it at the same time", async () => {
    const marks = join(lab.folder, "starts");
    const agent = lab.program(
      "command",
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(marks)}, "x");${ECHO}`,
    );
    const spec = lab.spec(agent);
    const sessions = Array.from({ length: 5 }, () => lab.newHost().open(spec));
    await Promise.all(sessions.map((session) => listen(session, ({ type }) => type === "ready")));
    await expect.poll(() => existsSync(marks)).toBe(true);
    await sleep(200);
    expect(readFileSync(marks, "utf8")).toBe("x");
    await sessions[0]!.stop();
  });

  it("that was stopped before its keeper started never starts", async () => {
    const marks = join(lab.folder, "starts");
    const spec = lab.spec(
      lab.program("command", `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marks)}, "x");`),
    );
    const session = lab.host.open(spec);
    const signals = session.signals();
    const first = signals.next();
    await session.stop();
    expect((await first).value).toBeDefined();
    await sleep(500);
    await signals.return?.(undefined);
    // A keeper that was still starting finds that its session has ended.
    await expect.poll(() => lab.processes()).toEqual([]);
    expect(existsSync(marks)).toBe(false);
    const again = await listen(lab.newHost().open(spec), ({ type }) => type === "gone");
    expect(again.at(-1)).toMatchObject({ type: "gone", deliberate: true });
  });

  it("reports how its program died in the middle of a turn", async () => {
    const exits = await oneTurn(
      lab.host.open(lab.spec(lab.program("command", "process.stdin.once('data', () => process.exit(3));"))),
    );
    expect(exits.at(-1)).toMatchObject({
      type: "turnOver",
      ending: { kind: "exited", detail: "the agent exited with 3 in the middle of its turn" },
    });
    const dies = await oneTurn(
      lab.host.open(
        lab.spec(lab.program("command", "process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'));")),
      ),
    );
    expect(dies.at(-1)).toMatchObject({
      type: "turnOver",
      ending: { kind: "exited", detail: "the agent was ended by SIGKILL in the middle of its turn" },
    });
  });

  it("loses no output that the program wrote before it died", async () => {
    const agent = lab.program(
      "command",
      "process.stdin.once('data', () => { process.stdout.write('y'.repeat(3_000_000) + '\\n'); process.exit(0); });",
    );
    const signals = await oneTurn(lab.host.open(lab.spec(agent)));
    expect(texts(signals)).toBe(`${"y".repeat(3_000_000)}\n`);
  });

  it("yields to the event loop while it replays a long past", async () => {
    const agent = lab.program(
      "command",
      `process.stdin.once("data", () => {
        const message = JSON.stringify({ type: "assistant", text: "a word" }) + "\\n";
        process.stdout.write(message.repeat(200_000) + '{"type":"turn_end"}\\n');
      });`,
    );
    const spec = lab.spec(agent);
    const first = lab.host.open(spec);
    await oneTurn(first);
    first.leave();
    let ticks = 0;
    let signals = 0;
    const clock = setInterval(() => (ticks += 1), 1);
    await listen(
      lab.newHost().open(spec),
      ({ type }) => type === "turnOver",
      ({ type }) => {
        signals += 1;
        if (type === "sent") ticks = 0;
      },
    );
    clearInterval(clock);
    expect(signals).toBeGreaterThan(200_000);
    expect(ticks).toBeGreaterThan(0);
  });

  it("reports that its program cannot be started", async () => {
    const signals = await oneTurn(lab.host.open(lab.spec("command:/nowhere/at-all")));
    expect(signals.at(-1)).toMatchObject({ type: "unstartable", error: expect.stringContaining("ENOENT") });
  });

  it("leaves no grandchild when it is stopped, not even one in its own process session that ignores signals", async () => {
    const agent = lab.program(
      "command",
      `import { spawn } from "node:child_process";
       const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
       spawn(process.execPath, ["-e", stubborn], { detached: true, stdio: "ignore" }).unref();
       spawn(process.execPath, ["-e", stubborn], { stdio: "ignore" });
       process.on("SIGTERM", () => {});
       process.stdin.once("data", () => console.log(JSON.stringify({ type: "turn_end" })));
       process.stdin.resume();
       setInterval(() => {}, 1000);`,
    );
    const session = lab.host.open(lab.spec(agent));
    await oneTurn(session);
    const marked = () => lab.processes().length;
    expect(marked()).toBeGreaterThanOrEqual(2);
    await session.stop();
    expect(lab.processes()).toEqual([]);
  });

  it("kills a program that does not exit within the grace period after its work", async () => {
    const agent = lab.program(
      "command",
      "process.stdin.on('data', () => console.log(JSON.stringify({ type: 'turn_end' }))); setInterval(() => {}, 1000);",
    );
    const session = lab.host.open(lab.spec(agent));
    await oneTurn(session);
    await session.close();
    expect(lab.processes()).toEqual([]);
  });

  it("ends with its program if its keeper is killed", async () => {
    const session = lab.host.open(lab.spec(lab.program("command", ECHO)));
    await oneTurn(session);
    const keeper = lab.processes().find((line) => line.includes("keeper"))!;
    process.kill(Number(keeper.split(" ")[0]), "SIGKILL");
    const signals = await listen(session, ({ type }) => type === "gone");
    expect(signals.at(-1)).toEqual({ type: "gone", reason: "its keeper died", deliberate: false });
    expect(lab.processes()).toEqual([]);
  });

  it("ends by itself after the set time without an engine", async () => {
    const host = lab.newHost({ orphanAfterMs: 500 });
    const agent = lab.program(
      "command",
      `import { existsSync } from "node:fs";
       ${lab.keeperRounds()}
       const exitLater = setInterval(async () => {
         if (!existsSync("alone")) return;
         clearInterval(exitLater);
         await keeperRounds(20);
         process.exit();
       }, 20);${ECHO}`,
    );
    const session = host.open(lab.spec(agent));
    await oneTurn(session);
    writeFileSync(lab.engineFile, JSON.stringify({ pid: 1, startTime: "another", bootId: "" }));
    writeFileSync(join(lab.cwd, "alone"), "");
    const signals = await listen(session, ({ type }) => type === "gone");
    expect(signals.at(-1)).toMatchObject({ type: "gone", reason: "it was ended because no engine was running" });
    // `end.json` appears shortly before the keeper exits.
    await expect.poll(() => lab.processes()).toEqual([]);
  });

  it("gives the program its documented variables and no others", async () => {
    process.env["TUTTI_TEST_SECRET"] = "not for agents";
    const host = lab.newHost({ agentEnv: { CHOSEN: "by the person" } });
    const agent = lab.program("text", "console.log(JSON.stringify(process.env))");
    const signals = await oneTurn(host.open(lab.spec(agent, { taskId: "task_007", attempt: 3, model: "small" })));
    const env = JSON.parse(texts(signals)) as Record<string, string>;
    delete process.env["TUTTI_TEST_SECRET"];
    expect(env).toMatchObject({
      TUTTI_TASK_ID: "task_007",
      TUTTI_ATTEMPT: "3",
      TUTTI_MODEL: "small",
      TUTTI_ROLE: "worker",
      CHOSEN: "by the person",
      PATH: process.env["PATH"],
    });
    expect(env["TUTTI_RUN_ID"]).toMatch(/^run_/);
    expect(env["TUTTI_SESSION_KEY"]).toMatch(/^session_/);
    expect(env["TUTTI_MCP_URL"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    // Masked, like every secret in the output of an agent.
    expect(env["TUTTI_MCP_TOKEN"]).not.toMatch(/^tutti_worker_/);
    const allowed = new Set([
      "TUTTI_RUN_ID",
      "TUTTI_TASK_ID",
      "TUTTI_ROLE",
      "TUTTI_SESSION_KEY",
      "TUTTI_ATTEMPT",
      "TUTTI_MODEL",
      "TUTTI_MCP_URL",
      "TUTTI_MCP_TOKEN",
      "CHOSEN",
      "PATH",
      "HOME",
      "LANG",
      "TZ",
      "TMPDIR",
    ]);
    expect(Object.keys(env).filter((name) => !allowed.has(name))).toEqual([]);
  });

  it("of the main role has no task", async () => {
    const agent = lab.program("text", "console.log(String(process.env.TUTTI_TASK_ID), process.env.TUTTI_ROLE)");
    expect(texts(await oneTurn(lab.host.open(lab.spec(agent, { role: "main", taskId: null }))))).toBe(
      "undefined main\n",
    );
  });

  it("gets its role unchanged", async () => {
    const agent = lab.program("text", "console.log(process.env.TUTTI_ROLE)");
    const session = lab.host.open(lab.spec(agent, { role: "release-manager" }));
    expect(texts(await oneTurn(session))).toBe("release-manager\n");
  });

  it("removes files of a process that died while it wrote", async () => {
    const spec = lab.spec(lab.program("command", ECHO));
    await oneTurn(lab.host.open(spec));
    const half = join(lab.folder, "sessions", spec.runId, spec.sessionId, "requests", "close.json.123.new");
    writeFileSync(half, "{");
    await lab.host.reap(spec.runId, []);
    expect(existsSync(half)).toBe(false);
  });

  it("is reaped with its run, except for those to keep", async () => {
    const agent = lab.program("command", ECHO);
    const one = lab.spec(agent, { runId: "run_reaped" });
    const two = lab.spec(agent, { runId: "run_reaped" });
    await oneTurn(lab.host.open(one));
    await oneTurn(lab.host.open(two));
    await lab.host.reap("run_reaped", [two.sessionId]);
    expect(lab.processes()).toHaveLength(2);
    await lab.host.reap("run_reaped", []);
    expect(lab.processes()).toEqual([]);
    expect(existsSync(join(lab.folder, "sessions", "run_reaped", one.sessionId, "output.log"))).toBe(true);
  });

  it("is reaped together with processes that only the run still marks", async () => {
    const lost = (runId: string) => spawn("sleep", ["100000"], { env: { TUTTI_RUN_ID: runId } });
    const [own, other] = [lost(`run_lost_${process.pid}`), lost(`run_other_${process.pid}`)];
    try {
      await lab.host.reap(`run_lost_${process.pid}`, []);
      expect([own, other].map(({ pid }) => identify(pid!) === null)).toEqual([true, false]);
    } finally {
      for (const each of [own, other]) each.kill("SIGKILL");
    }
  });
});
