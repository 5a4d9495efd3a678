import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CANARIES, leaksIn, SECRET_ENV } from "./canaries.ts";
import { block, FakeController, type FakeAgent } from "./fake-controller.ts";
import { listen, texts, turn } from "./session-lab.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import { createPolledHost, type PolledHost, type PolledHostOptions } from "../../src/session/polled/polled-host.ts";
import { journalFile } from "../../src/session/polled/polled-journal.ts";
import type { SessionSignal, SessionSpec, Turn } from "../../src/session/session.ts";
import { realWorld, type World } from "../../src/world.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-polled-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const spec = (more: Partial<SessionSpec> = {}): SessionSpec => ({
  sessionId: "session_1",
  runId: "run_1",
  role: "worker",
  taskId: "task_001",
  attempt: 1,
  agent: "controller",
  cwd: folder,
  permissions: DEFAULT_PERMISSIONS,
  ...more,
});

const hostOf = (controller: FakeController, more: Partial<PolledHostOptions> = {}): PolledHost =>
  createPolledHost({ controller, folder, world: realWorld, pollMs: () => 15, settleMs: 120, ...more });

const turnOf = (number: number, text = "do it", more: Partial<Turn> = {}): Turn => {
  const variables = {
    TASK_TITLE: "The API",
    TEMPLATE_NAME: "Documentation",
    DELIMITER_START: "<<<ORCHESTRATOR_RESPONSE>>>",
    DELIMITER_END: "<<<END_ORCHESTRATOR_RESPONSE>>>",
  };
  return turn(number, text, { variables, ...more });
};

const done = block("completion", { task_id: "task_001", status: "success" });
const isOver = ({ type }: SessionSignal): boolean => type === "turnOver" || type === "gone";

/** Runs one turn of a new session. */
const oneTurn = async (host: PolledHost, given = turnOf(1), of = spec()): Promise<SessionSignal[]> => {
  const session = host.open(of);
  return listen(session, isOver, async ({ type }) => {
    if (type === "ready") await session.deliver(given);
  });
};

describe("A polled session", () => {
  it("starts with the prompt as its first message and the title of its task (D4-081, D4-082)", async () => {
    const controller = new FakeController(() => done);
    await oneTurn(hostOf(controller), turnOf(1, "write the page"));
    const [session] = controller.sessions.values();
    expect(session).toMatchObject({ cwd: folder, title: "[Worker] The API" });
    expect(session!.messages[0]).toMatchObject({ role: "user", content: "write the page" });
  });

  it("is polled once for all callers of `poll` at the same time, who share the result (D0-088, D0-089)", async () => {
    const controller = new FakeController(() => null);
    const host = hostOf(controller, { pollMs: () => 60_000 });
    const session = host.open(spec());
    const signals = listen(
      session,
      ({ type }) => type === "turnOver",
      async ({ type }) => {
        if (type === "ready") await session.deliver(turnOf(1));
      },
    );
    await expect.poll(() => controller.sessions.size).toBe(1);
    const [backend] = controller.sessions.values();
    controller.transcriptMs = 50;
    const before = controller.times("getTranscript", backend!.id).length;
    const first = host.poll("session_1");
    await sleep(10);
    // These calls come during the first poll, so they share one more poll.
    await Promise.all([first, ...Array.from({ length: 20 }, () => host.poll("session_1"))]);
    const looks = controller.times("getTranscript", backend!.id).length;
    expect(looks - before).toBe(2);
    for (let i = 0; i < 50; i++) await host.transcript("run_1", "session_1");
    expect(controller.times("getTranscript", backend!.id)).toHaveLength(looks);
    controller.say(backend!, "assistant", done);
    await host.poll("session_1");
    await signals;
  });

  it("has its own title and badge if it is the main session", async () => {
    const controller = new FakeController(() => block("analysis", { summary: "s", recommended_splits: 1 }));
    await oneTurn(hostOf(controller), turnOf(1, "look", { phase: "analysis" }), spec({ role: "main", taskId: null }));
    const [session] = controller.sessions.values();
    expect(session!.title).toBe("[Orchestrator] Documentation");
    expect(session!.messages[0]!.content).toBe("🎭 **ORCHESTRATOR MODE** - Documentation\n\nlook");
  });

  it.each(["list", "object"] as const)(
    "passes on each assistant message once, from a transcript that is a %s (D4-087, D4-088, E26)",
    async (shape) => {
      const controller = new FakeController((session) => {
        controller.say(session, "assistant", "first");
        controller.say(session, "user", [{ type: "tool_result", content: block("completion", { task_id: "no" }) }]);
        setTimeout(() => controller.say(session, "assistant", "second"), 60);
        setTimeout(() => controller.say(session, "assistant", [{ type: "text", text: done }]), 120);
        return null;
      });
      controller.shape = shape;
      controller.names = shape === "object";
      // The block ends the turn, and never a pause between two messages.
      const signals = await oneTurn(hostOf(controller, { settleMs: 600_000 }));
      const spoken = signals.flatMap((signal) => (signal.type === "text" ? [signal.text] : []));
      expect(spoken).toEqual(["first", "second", done]);
      expect(signals.at(-1)).toMatchObject({ type: "turnOver", turn: 1, ending: { kind: "ended" } });
    },
  );

  it("reports the tools of the transcript and their failures, and takes no text for one (E29)", async () => {
    const controller = new FakeController((session) => {
      const call = { type: "tool_use", id: "call-1", name: "Write", input: { path: "a.md" } };
      controller.say(session, "assistant", [{ type: "text", text: "I use Bash, then Read, and write." }, call]);
      const failure = { type: "tool_result", tool_use_id: "call-1", is_error: true, content: "no such folder" };
      controller.say(session, "user", [failure]);
      return done;
    });
    const signals = await oneTurn(hostOf(controller));
    const tools = signals.filter(({ type }) => type === "tool");
    expect(tools).toEqual([{ type: "tool", id: "call-1", name: "Write", input: { path: "a.md" } }]);
    const failed = signals.filter(({ type }) => type === "toolFailed");
    expect(failed).toEqual([{ type: "toolFailed", id: "call-1", error: "no such folder" }]);
  });

  it("waits for the rest of an incomplete message", async () => {
    const controller = new FakeController((session) => {
      controller.say(session, "assistant", done.slice(0, 60));
      setTimeout(() => (session.messages.at(-1)!.content = done), 80);
      return null;
    });
    expect(texts(await oneTurn(hostOf(controller, { settleMs: 600_000 })))).toBe(done);
  });

  it("ends its turn without a block when its transcript has not changed for a while", async () => {
    const controller = new FakeController(() => "I am done, I think.");
    const before = performance.now();
    const signals = await oneTurn(hostOf(controller));
    expect(performance.now() - before).toBeGreaterThan(120);
    expect(signals.map(({ type }) => type)).toEqual(["caughtUp", "ready", "sent", "text", "turnOver"]);
  });

  it("does not end its turn while the controller reports it as busy", async () => {
    const controller = new FakeController((session) => {
      session.says = { isRunning: true };
      setTimeout(() => (session.says = { isRunning: false }), 400);
      return "Hm.";
    });
    const before = performance.now();
    await oneTurn(hostOf(controller));
    expect(performance.now() - before).toBeGreaterThan(390);
  });

  it("has at most one transcript request in progress (E79)", async () => {
    const controller = new FakeController(() => "Hm.");
    controller.transcriptMs = 80;
    const host = hostOf(controller);
    const polls: Promise<void>[] = [];
    const timer = setInterval(() => polls.push(host.poll("session_1")), 20);
    await oneTurn(host);
    clearInterval(timer);
    await Promise.all(polls);
    expect(polls.length).toBeGreaterThan(2);
    expect(controller.mostAtOnce).toBe(1);
  });

  it("backs off while the controller fails, and continues afterwards (E79)", async () => {
    const controller = new FakeController(() => done);
    controller.failures = 4;
    const signals = await oneTurn(hostOf(controller));
    expect(signals.at(-1)).toMatchObject({ type: "turnOver" });
    const times = controller.times("getTranscript", "backend-1");
    const waits = times.slice(1).map((at, i) => at - times[i]!);
    expect(waits).toHaveLength(4);
    for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(15 * 2 ** (i + 1) - 2);
  });

  it("is lost when the controller fails repeatedly", async () => {
    const controller = new FakeController(() => done);
    controller.failures = 100;
    const signals = await oneTurn(hostOf(controller, { pollMs: () => 1 }));
    expect(signals.at(-1)).toEqual({ type: "gone", reason: "the controller is not to be reached", deliberate: false });
  });

  const twoTurns = async (
    says: Record<string, unknown>,
    after: (controller: FakeController) => void = () => {},
    world = realWorld,
  ) => {
    const controller = new FakeController((session) => {
      session.says = says;
      return done;
    });
    const session = hostOf(controller, { world }).open(spec());
    await listen(
      session,
      ({ type }) => type === "turnOver",
      async ({ type }) => {
        if (type === "ready") await session.deliver(turnOf(1));
      },
    );
    after(controller);
    await session.deliver(turnOf(2, "and again"));
    const [started] = controller.times("startNewSessionWithMessage", "backend-1");
    const [sent] = controller.times("sendMessage", "backend-1");
    return sent! - started!;
  };

  it("gets its next message 1.5 s after its start if the controller does not report readiness (E80)", async () => {
    expect(await twoTurns({})).toBeGreaterThan(1480);
  });

  it("gets its next message at once if the controller reports it as ready (E80)", async () => {
    // Waits of 250 ms or more never end here.
    const sleep: World["sleep"] = (ms, ...rest) => (ms < 250 ? realWorld.sleep(ms, ...rest) : new Promise(() => {}));
    await twoTurns({ isReady: true }, undefined, { ...realWorld, sleep });
  });

  it("gets its next message only after the controller reports it as ready (E80)", async () => {
    const waited = await twoTurns({ status: "initializing" }, ({ sessions }) => {
      setTimeout(() => (sessions.get("backend-1")!.says = { status: "idle" }), 300);
    });
    expect(waited).toBeGreaterThan(290);
  });

  it("is adopted after a restart with all its messages, and does not start twice", async () => {
    const controller = new FakeController(() => null);
    const first = hostOf(controller).open(spec());
    await listen(
      first,
      ({ type }) => type === "sent",
      async ({ type }) => {
        if (type === "ready") await first.deliver(turnOf(1));
      },
    );
    first.leave();
    controller.say(controller.sessions.get("backend-1")!, "assistant", done);
    const second = hostOf(controller).open(spec());
    expect(second.wasDelivered(1)).toBe(true);
    const signals = await listen(second, isOver);
    expect(signals.map(({ type }) => type)).toEqual(["ready", "sent", "caughtUp", "text", "turnOver"]);
    expect(controller.sessions.size).toBe(1);
  });

  it("is found by its folder and title if the engine died before it recorded the id", async () => {
    const controller = new FakeController(() => done);
    const start = controller.startNewSessionWithMessage.bind(controller);
    controller.startNewSessionWithMessage = async (...args) => {
      await start(...args);
      return new Promise<never>(() => {});
    };
    const first = hostOf(controller).open(spec());
    await listen(first, ({ type }) => type === "ready");
    first.deliver(turnOf(1)).catch(() => {});
    await expect.poll(() => controller.sessions.size).toBe(1);
    const signals = await listen(hostOf(controller).open(spec()), isOver);
    expect(texts(signals)).toBe(done);
    expect(controller.sessions.size).toBe(1);
  });

  it("is archived by the controller when it is stopped, and reports that it is gone", async () => {
    const controller = new FakeController(() => null);
    const host = hostOf(controller);
    const session = host.open(spec());
    const signals = await listen(session, isOver, async ({ type }) => {
      if (type === "ready") await session.deliver(turnOf(1));
      if (type === "sent") await host.end("run_1", "session_1");
    });
    expect(signals.at(-1)).toEqual({ type: "gone", reason: "it was stopped", deliberate: true });
    expect(controller.sessions.get("backend-1")!.archived).toBe(true);
    await host.reap("run_1", []);
    expect(controller.times("archiveSession", "backend-1")).toHaveLength(1);
  });

  it("stays readable after archiving, and is archived by the controller too (D4-114)", async () => {
    const controller = new FakeController(() => done);
    const host = hostOf(controller);
    await oneTurn(host, turnOf(1, "write"));
    await expect(host.archive("run_1", "session_1")).rejects.toMatchObject({ code: "wrong_state" });
    await host.open(spec()).close();
    await host.archive("run_1", "session_1");
    expect(host.isArchived("run_1", "session_1")).toBe(true);
    expect(controller.sessions.get("backend-1")!.archived).toBe(true);
    expect(await host.transcript("run_1", "session_1")).toMatchObject([
      { n: 1, type: "prompt", text: "write" },
      { n: 2, type: "text", text: done },
      { n: 3, type: "turnOver" },
    ]);
    await host.forget("run_1");
    expect(await host.transcript("run_1", "session_1")).toEqual([]);
  });

  it("leaves no secret in its files and signals, from its spec, prompts, texts or tool inputs", async () => {
    const all = CANARIES.map(({ printed }) => printed).join(" ;\n");
    const controller = new FakeController((session) => {
      controller.say(session, "assistant", [
        { type: "text", text: `it is ${all}` },
        { type: "tool_use", name: "Bash", input: { command: all } },
      ]);
      return done;
    });
    const host = hostOf(controller, { env: SECRET_ENV });
    const permissions = { ...DEFAULT_PERMISSIONS, allow: [`Bash(curl ${all})`] };
    const signals = await oneTurn(host, turnOf(1, `use ${all}`), spec({ permissions }));
    const sessionFolder = join(folder, "run_1", "session_1");
    for (const name of readdirSync(sessionFolder))
      expect([name, leaksIn(readFileSync(join(sessionFolder, name), "utf8"))]).toEqual([name, []]);
    expect(leaksIn(controller.sessions.values().next().value!.messages[0]!.content as string)).not.toEqual([]);
    expect(leaksIn(JSON.stringify(signals))).toEqual([]);
    expect(leaksIn(JSON.stringify(await host.transcript("run_1", "session_1")))).toEqual([]);
    expect(texts(signals)).toContain(done);
    // The controller keeps its own unmasked copy.
    expect(leaksIn(JSON.stringify([...controller.sessions.values()]))).not.toEqual([]);
  });

  it("is read page by page, without reading earlier pages again", async () => {
    const controller = new FakeController((session) => {
      for (let i = 0; i < 2000; i++) controller.say(session, "assistant", `message ${i}`);
      return done;
    });
    const host = hostOf(controller);
    await oneTurn(host);
    const whole = await host.transcript("run_1", "session_1");
    expect(whole).toHaveLength(2003);
    const pages = [];
    for (let after = 0; after < whole.length; after += 77) {
      pages.push(...(await host.transcript("run_1", "session_1", { after, limit: 77 })));
    }
    expect(pages).toEqual(whole);
    const short = await host.transcript("run_1", "session_1", { after: 500, limit: 1000, characters: 300 });
    expect(short.length).toBeLessThan(12);
    expect(short).toEqual(whole.slice(500, 500 + short.length));
    // Blank the earlier output: reading it again would yield nothing.
    const journal = journalFile(join(folder, "run_1", "session_1"));
    const spoilt = Math.floor(statSync(journal).size * 0.8);
    const fd = openSync(journal, "r+");
    writeSync(fd, Buffer.alloc(spoilt, " "), 0, spoilt, 0);
    closeSync(fd);
    expect(await host.transcript("run_1", "session_1", { after: 1900, limit: 50 })).toEqual(whole.slice(1900, 1950));
  });

  it("is polled only on request while it is not watched", async () => {
    const controller = new FakeController(() => done);
    const host = hostOf(controller, { isWatched: () => false });
    const session = host.open(spec());
    const signals: string[] = [];
    const listening = listen(session, isOver, async (signal) => {
      signals.push(signal.type);
      if (signal.type === "ready") await session.deliver(turnOf(1));
    });
    await expect.poll(() => signals).toContain("sent");
    await sleep(100);
    expect(signals).toEqual(["caughtUp", "ready", "sent"]);
    await host.poll("session_1");
    await listening;
    expect(signals.at(-1)).toBe("turnOver");
  });

  const interrupted = async (controller: FakeController) => {
    const session = hostOf(controller).open(spec());
    return listen(session, isOver, async ({ type }) => {
      if (type === "ready") await session.deliver(turnOf(1));
      if (type === "sent") await session.interrupt(1);
    });
  };

  it("is interrupted if the controller supports it", async () => {
    const controller = new FakeController(() => null);
    const interruptSession = async (id: string) => controller.say(controller.sessions.get(id)!, "assistant", "I stop.");
    const signals = await interrupted(Object.assign(controller, { interruptSession }));
    expect(signals).toContainEqual({ type: "interrupted", turn: 1 });
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "interrupted" } });
  });

  it("continues, and its answer counts, if the controller cannot interrupt it", async () => {
    const signals = await interrupted(new FakeController(() => done));
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "ended" } });
    expect(texts(signals)).toBe(done);
  });

  it("accepts no agent but the controller", () => {
    const host = hostOf(new FakeController((() => null) satisfies FakeAgent));
    expect(() => host.check("controller", folder)).not.toThrow();
    expect(() => host.check("claude", folder)).toThrow(/the session controller runs all sessions/);
  });
});
