// Keepers and the agents that they run belong to the same user, so an agent can write into its own session folder, stop
// its keeper, and start processes that hide.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, oneTurn, SessionLab, turn } from "./session-lab.ts";
import { hurriedWorld } from "../lab/hurried-world.ts";
import { sessionKeyOf, signRequest } from "../../src/session/keeper/request-key.ts";
import { paths, readEnd, readKeeper, readRequest, request, turnName } from "../../src/session/keeper/session-folder.ts";
import { findSessionProcesses, lockLimitOf } from "../../src/session/keeper/session-processes.ts";
import { isAlive } from "../../src/session/process.ts";
import type { Session, SessionSpec } from "../../src/session/session.ts";

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const folderOf = ({ runId, sessionId }: SessionSpec): string => join(lab.folder, "sessions", runId, sessionId);

/**
 * Asks a question in its first turn and ends every other one. Writes every line it receives to `received`. Its keeper
 * sends SIGTERM soon after an interrupt. On a busy machine the program has not read that by then, and reads it first.
 */
const asker = (received: string): string =>
  lab.program(
    "command",
    `import { appendFileSync } from "node:fs";
     import { createInterface } from "node:readline";
     let turns = 0;
     let isInterrupted = false;
     let mustEnd = false;
     process.on("SIGTERM", () => {
       if (isInterrupted) process.exit();
       mustEnd = true;
     });
     for await (const line of createInterface({ input: process.stdin })) {
       appendFileSync(${JSON.stringify(received)}, line + "\\n");
       const { type } = JSON.parse(line);
       if (type === "user") turns += 1;
       if (type === "interrupt") isInterrupted = true;
       if (mustEnd) process.exit();
       if (type !== "answer" && turns === 1) console.log(JSON.stringify({ type: "ask", id: "q", question: "May I?" }));
       else console.log(JSON.stringify({ type: "turn_end" }));
     }`,
  );

const hurriedHost = () => lab.newHost({ world: hurriedWorld() });

describe("A request to a keeper", () => {
  const answer = { type: "answer", askId: "q", text: "YES", input: `${JSON.stringify({ type: "answer", id: "q" })}\n` };
  const wrongKey = sessionKeyOf("0".repeat(64), "session");

  it.each([
    { how: "without a signature", write: (file: string) => writeFileSync(file, JSON.stringify(answer)) },
    { how: "that is no JSON", write: (file: string) => writeFileSync(file, "YES") },
    {
      how: "with the signature of another key",
      write: (file: string) =>
        writeFileSync(file, JSON.stringify({ ...answer, signature: signRequest(wrongKey, "answer-q", answer) })),
    },
    {
      how: "with the signature of another session's key",
      write: (file: string) => {
        const key = sessionKeyOf(readFileSync(join(lab.folder, "keeper.key"), "utf8").trim(), "another session");
        writeFileSync(file, JSON.stringify({ ...answer, signature: signRequest(key, "answer-q", answer) }));
      },
    },
    {
      how: "with a valid content under another name",
      write: (file: string, requests: string) => copyFileSync(join(requests, `${turnName(1)}.json`), file),
    },
    {
      how: "that is a link",
      write: (file: string, requests: string) => symlinkSync(join(requests, `${turnName(1)}.json`), file),
    },
    { how: "that is a folder", write: (file: string) => mkdirSync(file) },
  ])("$how ends the session and is not carried out", async ({ write }) => {
    const received = join(lab.folder, "received");
    const spec = lab.spec(asker(received));
    const session = lab.host.open(spec);
    const signals = await listen(
      session,
      // `turnOver` follows if the keeper carries the request out.
      ({ type }) => type === "gone" || type === "turnOver",
      async ({ type }) => {
        if (type === "ready") await session.deliver(turn(1));
        if (type !== "ask") return;
        const { requests } = paths(folderOf(spec));
        const file = join(requests, "answer-q.json");
        write(`${file}.new`, requests);
        // The keeper must not read a part of the request, which would be forged for that reason alone.
        renameSync(`${file}.new`, file);
        // Ends the turn if the keeper ignores the request.
        await session.deliver(turn(2));
      },
    );
    expect(signals.slice(-2)).toEqual([
      { type: "forged", name: "answer-q.json" },
      { type: "gone", reason: "a request to its keeper was not written by Tutti", deliberate: false },
    ]);
    expect(signals).not.toContainEqual(expect.objectContaining({ type: "turnOver" }));
    const types = [...readFileSync(received, "utf8").matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);
    expect(types).toEqual(["user", "interrupt"]);
    expect(readEnd(folderOf(spec))).toMatchObject({ reason: "forged" });
    await session.stop();
    expect(lab.processes()).toEqual([]);
  });

  it("is accepted from the next host, which has only the data folder", async () => {
    const received = join(lab.folder, "received");
    const spec = lab.spec(asker(received));
    const first = lab.host.open(spec);
    await listen(
      first,
      ({ type }) => type === "ask",
      async ({ type }) => {
        if (type === "ready") await first.deliver(turn(1));
      },
    );
    const next = lab.newHost().open(spec);
    await next.answer("q", "yes");
    await listen(next, ({ type }) => type === "turnOver");
    expect(readFileSync(received, "utf8")).toContain('"text":"yes"');
    await next.stop();
  });

  it("keeps its members at the top, where a keeper of an earlier version reads them", () => {
    const folder = join(lab.folder, "session");
    mkdirSync(paths(folder).requests, { recursive: true });
    const value = { type: "turn", number: 1, text: "do it", input: null } as const;
    request(folder, wrongKey, turnName(1), value);
    expect(readRequest(folder, turnName(1))).toEqual({ ...value, signature: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});

describe("A keeper", () => {
  const pidOf = (spec: SessionSpec): number => readKeeper(folderOf(spec))!.pid;
  const environOf = (pid: number): string[] =>
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .filter((line) => line !== "");

  it("has no variable of the server beyond the few it needs, no secret and no key, in its environment or arguments", async () => {
    const token = "tutti-token-0123456789";
    process.env["TUTTI_TEST_SECRET"] = "not for keepers 1234";
    const host = lab.newHost({ token: () => token, agentEnv: { AGENT_API_KEY: "only-for-the-agent-77" } });
    const spec = lab.spec(
      lab.program("command", "console.log(process.env.AGENT_API_KEY.length); process.stdin.resume();"),
    );
    await listen(host.open(spec), ({ type }) => type === "text");
    delete process.env["TUTTI_TEST_SECRET"];
    const pid = pidOf(spec);
    const names = environOf(pid).map((line) => line.split("=")[0]!);
    const needed = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "NODE_COMPILE_CACHE", "PWD", "OLDPWD", "SHLVL", "_"];
    expect(names.filter((name) => !needed.includes(name))).toEqual([]);
    const key = readFileSync(join(lab.folder, "keeper.key"), "utf8");
    const files = readdirSync(folderOf(spec), { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"));
    const all = [...environOf(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8"), ...files].join("\n");
    for (const secret of [
      token,
      "not for keepers 1234",
      "only-for-the-agent-77",
      key,
      sessionKeyOf(key, spec.sessionId),
    ])
      expect(all).not.toContain(secret);
    expect(statSync(join(lab.folder, "keeper.key")).mode & 0o777).toBe(0o600);
    await host.end(spec.runId, spec.sessionId);
  });

  it("that is stopped is killed with its agent when the session ends", async () => {
    const spec = lab.spec(lab.program("command", "process.stdin.resume(); setInterval(() => {}, 1000);"));
    await listen(lab.host.open(spec), ({ type }) => type === "ready");
    process.kill(pidOf(spec), "SIGSTOP");
    await hurriedHost().end(spec.runId, spec.sessionId);
    expect(lab.processes()).toEqual([]);
  });

  it.each(["close", "reap"])("that is stopped does not block %s", async (how) => {
    const spec = lab.spec(lab.program("command", "process.stdin.resume(); setInterval(() => {}, 1000);"));
    await listen(lab.host.open(spec), ({ type }) => type === "ready");
    process.kill(pidOf(spec), "SIGSTOP");
    const host = hurriedHost();
    await (how === "reap" ? host.reap(spec.runId, []) : host.open(spec).close());
    expect(lab.processes()).toEqual([]);
  });

  it("exits also if Node hangs in its own exit", async () => {
    const spec = lab.spec(lab.program("command", "process.exit(0);"));
    const session = lab.host.open(spec);
    await listen(session, ({ type }) => type === "gone");
    // The same session again in a keeper that ends with 99 if it relies on Node's own exit, which may hang.
    const folder = join(lab.folder, "sessions", "again");
    mkdirSync(paths(folder).requests, { recursive: true });
    copyFileSync(paths(folderOf(spec)).spec, paths(folder).spec);
    const exit = `data:text/javascript,process.on("exit", () => process.reallyExit(99));`;
    const program = join(import.meta.dirname, "../../src/session/keeper/keeper.ts");
    const keeper = spawn(process.execPath, ["--import", exit, program, folder], {
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    (keeper.stdio[3] as NodeJS.WritableStream).end(JSON.stringify({ key: "key", env: {}, secrets: [] }));
    expect(await once(keeper, "exit")).toEqual([null, "SIGKILL"]);
    expect(readEnd(folder)).toMatchObject({ reason: "exited", masked: true });
    expect(existsSync(paths(folder).keeper)).toBe(false);
  });

  it("without its launch message starts nothing", async () => {
    const folder = join(lab.folder, "sessions", "unlaunched");
    mkdirSync(paths(folder).requests, { recursive: true });
    const program = join(import.meta.dirname, "../../src/session/keeper/keeper.ts");
    const keeper = spawn(process.execPath, [program, folder], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    (keeper.stdio[3] as NodeJS.WritableStream).end('{"key":');
    await once(keeper, "exit");
    expect(readdirSync(folder)).toEqual(["requests"]);
  });
});

describe("A process that an agent started", () => {
  /** Starts a process with an empty environment in its own process session, whose parent exits at once. */
  const hider = (pidFile: string): string =>
    lab.program(
      "command",
      `import { spawnSync } from "node:child_process";
       process.stdin.once("data", () => {
         spawnSync("/bin/sh", ["-c", "env -i setsid sleep 100000 </dev/null >/dev/null 2>&1 & echo $! > ${pidFile}"]);
         console.log(JSON.stringify({ type: "turn_end" }));
       });
       process.stdin.resume();`,
    );

  const hidden = async (session: Session, pidFile: string) => {
    await oneTurn(session);
    const pid = Number(readFileSync(pidFile, "utf8"));
    // Two programs run before `sleep`, with the agent's environment and then without it.
    await expect.poll(() => readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("sleep\n");
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
    expect(findSessionProcesses(session.sessionId)).toContain(pid);
    return pid;
  };
  const exists = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

  it.each(["stop", "close"] as const)("with an empty environment ends with its session (%s)", async (how) => {
    const pidFile = join(lab.folder, "pid");
    const session = lab.host.open(lab.spec(hider(pidFile)));
    const pid = await hidden(session, pidFile);
    await session[how]();
    expect(exists(pid)).toBe(false);
  });

  it("with an empty environment ends also if the keeper was killed", async () => {
    const pidFile = join(lab.folder, "pid");
    const spec = lab.spec(hider(pidFile));
    const session = lab.host.open(spec);
    const pid = await hidden(session, pidFile);
    const keeper = readKeeper(folderOf(spec))!;
    process.kill(keeper.pid, "SIGKILL");
    await listen(session, ({ type }) => type === "gone");
    expect([isAlive(keeper), exists(pid)]).toEqual([false, false]);
  });

  it("with an empty environment ends also if another engine ends the session of a keeper that was killed", async () => {
    const pidFile = join(lab.folder, "pid");
    const spec = lab.spec(hider(pidFile));
    const session = lab.host.open(spec);
    const pid = await hidden(session, pidFile);
    session.leave();
    process.kill(readKeeper(folderOf(spec))!.pid, "SIGKILL");
    await lab.newHost().end(spec.runId, spec.sessionId);
    expect(exists(pid)).toBe(false);
  });

  it("with an empty environment ends also if the keeper ends the session without an engine", async () => {
    const pidFile = join(lab.folder, "pid");
    const spec = lab.spec(hider(pidFile));
    const session = lab.newHost({ orphanAfterMs: 500 }).open(spec);
    const pid = await hidden(session, pidFile);
    session.leave();
    writeFileSync(lab.engineFile, JSON.stringify({ pid: 1, startTime: "another", bootId: "" }));
    await expect.poll(() => readEnd(folderOf(spec))).toMatchObject({ reason: "orphaned" });
    expect(exists(pid)).toBe(false);
  });

  it("of another session is not touched", () => {
    expect(lockLimitOf("session_1")).not.toBe(lockLimitOf("session_2"));
    expect(lockLimitOf("session_1")).toBe(lockLimitOf("session_1"));
  });
});
