import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionLab, texts, turn } from "./session-lab.ts";
import { Conversation } from "../agents/conversation.ts";
import { pathName } from "../../src/schema/ids.ts";
import { SpareKeeper } from "../../src/session/keeper/spare-keeper.ts";
import { findSessionProcesses } from "../../src/session/keeper/session-processes.ts";
import { identify, type ProcessIdentity } from "../../src/session/process.ts";
import type { SessionHost, SessionSpec } from "../../src/session/session.ts";
import { realWorld } from "../../src/world.ts";

/** Stays at work until its second turn. Its child has neither its environment nor its process group. */
const WORKER = `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
spawn("setsid", ["env", "-i", "sleep", "1000"], { stdio: "ignore" });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ type: "assistant", text: process.env.COLOUR + " " + process.cwd() }));
  if (JSON.parse(line).text === "finish") console.log(JSON.stringify({ type: "turn_end" }));
}`;

const openFilesOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // The process has closed it since.
      return [];
    }
  });

/** The TCP ports on which a process listens. */
function portsOf(pid: number): number[] {
  const open = openFilesOf(pid);
  const rows = readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, address = "", , state, , , , , , inode] = row.trim().split(/ +/);
    return state === "0A" && open.includes(`socket:[${inode}]`) ? [Number.parseInt(address.split(":")[1]!, 16)] : [];
  });
}

describe("A spare keeper", () => {
  let lab: SessionLab;
  let host: SessionHost;
  let spare: SpareKeeper;
  beforeEach(() => {
    lab = new SessionLab();
    spare = new SpareKeeper(join(lab.folder, "sessions"));
    host = lab.newHost({ spare, agentEnv: { COLOUR: "green", API_KEY: "sk-of-the-user-0123456789" } });
  });
  afterEach(() => lab.tearDown());

  // The shell that starts a keeper has the same arguments until it exits.
  const spares = (): number[] =>
    lab
      .processes()
      .filter((line) => line.includes("--spare") && !/^\d+ \/bin\/sh /.test(line))
      .map((line) => Number(line.split(" ")[0]));

  async function atWork(spec: SessionSpec): Promise<Conversation> {
    const talk = new Conversation(host.open(spec));
    await talk.until(({ type }) => type === "ready");
    await talk.session.deliver(turn(1));
    await talk.until(({ type }) => type === "text");
    return talk;
  }

  const fileOf = ({ runId, sessionId }: SessionSpec, name: string): string =>
    join(lab.folder, "sessions", runId, pathName(sessionId), name);
  const keeperOf = (spec: SessionSpec): number =>
    (JSON.parse(readFileSync(fileOf(spec, "keeper.json"), "utf8")) as ProcessIdentity).pid;

  async function untilWaiting(): Promise<number> {
    await expect.poll(() => spare.isWaiting).toBe(true);
    await expect.poll(spares).toHaveLength(1);
    return spares()[0]!;
  }

  it("waits while a session works, becomes the keeper of the next one, and ends with the last one", async () => {
    const [first, second] = [lab.spec(lab.program("command", WORKER)), lab.spec(lab.program("command", WORKER))];
    const talk = await atWork(first);
    const waiting = await untilWaiting();
    const shown = ["cmdline", "environ"].map((name) => readFileSync(`/proc/${waiting}/${name}`, "utf8")).join();
    expect(shown).not.toMatch(/COLOUR|sk-of-the-user/);

    const next = await atWork(second);
    expect(keeperOf(second)).toBe(waiting);
    expect(texts(next.received)).toBe(`green ${lab.cwd}`);
    const marked = findSessionProcesses(second.sessionId);
    expect(marked).toContain(waiting);
    // The keeper, the agent and the child that hides.
    expect(marked).toHaveLength(3);
    // The port that the keeper opened while it waited serves the tools now.
    const environments = marked.map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8")).join("\0");
    const [, tools = ""] = /(?:^|\0)TUTTI_MCP_URL=([^\0]+)/.exec(environments) ?? [];
    expect((await fetch(tools, { method: "POST" })).status).toBe(401);

    await next.end();
    expect(findSessionProcesses(second.sessionId)).toEqual([]);
    await talk.end();
    await host.reap(first.runId, []);
    expect(lab.processes()).toEqual([]);
  });

  it("starts for a session that is expected, becomes its keeper, and ends if the session is not opened", async () => {
    const spec = lab.spec(lab.program("command", WORKER));
    const release = host.expect!();
    await expect.poll(spares).toHaveLength(1);
    const [starting] = spares();
    const talk = await atWork(spec);
    expect(keeperOf(spec)).toBe(starting);
    await talk.end();
    release();

    host.expect!()();
    await host.reap(spec.runId, []);
    expect(lab.processes()).toEqual([]);
  });

  it("stays for an expected session when another expectation ends, even if that ends twice", async () => {
    const [release, releaseOther] = [host.expect!(), host.expect!()];
    await untilWaiting();
    releaseOther();
    releaseOther();
    expect(spare.isWaiting).toBe(true);
    release();
    expect(spare.isWaiting).toBe(false);
    await spare.settled();
  });

  it("has exited when `settled` resolves", async () => {
    const isAlive = (pid: number): boolean => {
      try {
        // The command line of a process that has exited is empty until its parent has noticed.
        return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
      } catch {
        return false;
      }
    };
    for (let repetition = 0; repetition < 5; repetition++) {
      const release = host.expect!();
      const waiting = await untilWaiting();
      release();
      await spare.settled();
      expect(isAlive(waiting)).toBe(false);
    }
  });

  /** Writes its environment, and leaves a connection to its tools open. Its sessions are closed after their work. */
  const reporter = (): string =>
    lab.program(
      "command",
      `
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { createInterface } from "node:readline";
const { hostname, port } = new URL(process.env.TUTTI_MCP_URL);
connect(Number(port), hostname).on("error", () => {});
const hash = createHash("sha1").update(process.env.TUTTI_MCP_TOKEN).digest("hex");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ type: "assistant", text: JSON.stringify({ ...process.env, HASH: hash }) }));
  console.log(JSON.stringify({ type: "turn_end" }));
}`,
    );
  type Environment = Record<string, string>;
  const environmentOf = ({ received }: Conversation): Environment => JSON.parse(texts(received)) as Environment;
  const isAnswered = async (url: string): Promise<boolean> => {
    const answer = await fetch(url, { method: "POST" }).catch(() => null);
    return answer !== null;
  };

  it("keeps the next session after one that was closed, with nothing of it", async () => {
    const talk = await atWork(lab.spec(lab.program("command", WORKER)));
    const [first, second] = [lab.spec(reporter()), lab.spec(reporter())];
    const keeper = await untilWaiting();
    const closed = await atWork(first);
    expect(keeperOf(first)).toBe(keeper);
    const { TUTTI_MCP_URL: url = "" } = environmentOf(closed);
    expect(await isAnswered(url)).toBe(true);
    await closed.session.close();

    expect(existsSync(fileOf(first, "keeper.json"))).toBe(false);
    expect(findSessionProcesses(first.sessionId)).toEqual([]);
    expect(await isAnswered(url)).toBe(false);
    // Only the pipe, the port for the next session and Node's own files are open.
    expect(openFilesOf(keeper).filter((file) => file.startsWith(lab.folder))).toEqual([]);
    expect(readlinkSync(`/proc/${keeper}/cwd`)).toBe(realpathSync(lab.folder));

    host = lab.newHost({ spare, agentEnv: { SIZE: "large" } });
    const next = await atWork(second);
    expect(keeperOf(second)).toBe(keeper);
    expect(findSessionProcesses(second.sessionId)).toContain(keeper);
    const environment = environmentOf(next);
    expect(environment).toMatchObject({ SIZE: "large", TUTTI_SESSION_KEY: second.sessionId });
    expect(JSON.stringify(environment)).not.toMatch(/COLOUR|sk-of-the-user/);
    expect(environment["HASH"]).not.toBe(environmentOf(closed)["HASH"]);
    await next.session.close();
    await Promise.all([talk.end(), closed.end(), next.end()]);
    await host.reap(first.runId, []);
    expect(lab.processes()).toEqual([]);
  });

  it("is waited for if it is released while the exit of another one is waited for", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    spare.addExit(first.promise);
    let isSettled = false;
    const settled = spare.settled().then(() => (isSettled = true));
    spare.addExit(second.promise);
    first.resolve();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(isSettled).toBe(false);
    second.resolve();
    await settled;
  });

  it("that waits after its session and is killed is not waited for", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    const talk = await atWork(lab.spec(lab.program("command", WORKER)));
    const first = lab.spec(reporter());
    const keeper = await untilWaiting();
    const closed = await atWork(first);
    await closed.session.close();
    expect(existsSync(`/proc/${keeper}`)).toBe(true);
    // The other one would be enough, so the timer would do nothing.
    for (const pid of spares()) process.kill(pid, "SIGKILL");
    await expect.poll(spares).toEqual([]);
    // The timer that ends keepers which are not needed may fire at the moment of their death. Others only wait as long.
    for (const [fire, ms] of timers.mock.calls) if (ms === 5000) fire();
    await Promise.all([talk.end(), closed.end()]);
    await host.reap(first.runId, []);
    timers.mockRestore();
  });

  it("that waits keeps no connection to its port", async () => {
    const [first, second] = [lab.spec(lab.program("command", WORKER)), lab.spec(lab.program("command", WORKER))];
    const talk = await atWork(first);
    const keeper = await untilWaiting();
    const countSockets = (): number => openFilesOf(keeper).filter((file) => file.startsWith("socket:")).length;
    const before = countSockets();
    const [port] = portsOf(keeper);
    for (let i = 0; i < 30; i++) {
      const connection = connect(port!, "127.0.0.1").on("error", () => {});
      await once(connection, "connect");
      connection.destroy();
    }
    const next = await atWork(second);
    expect(keeperOf(second)).toBe(keeper);
    // The session has some of its own.
    expect(countSockets() - before).toBeLessThan(10);
    await Promise.all([talk.end(), next.end()]);
  });

  it("that waits after its first session is not needed for that session to end, and is replaced if it is killed", async () => {
    const talk = await atWork(lab.spec(lab.program("command", WORKER)));
    const [first, second] = [lab.spec(reporter()), lab.spec(reporter())];
    const keeper = await untilWaiting();
    const closed = await atWork(first);
    await closed.session.close();
    process.kill(keeper, "SIGSTOP");
    // Another host ends the session again, without a signal to its former keeper.
    await lab.newHost().end(first.runId, first.sessionId);
    const opened = atWork(second);
    await expect.poll(() => existsSync(fileOf(second, "spec.json"))).toBe(true);
    expect(findSessionProcesses(first.sessionId)).toEqual([]);
    process.kill(keeper, "SIGKILL");
    const next = await opened;
    expect(keeperOf(second)).not.toBe(keeper);
    await Promise.all([talk.end(), closed.end(), next.end()]);
  });

  it("ends with a session that is stopped, and keeps no other one", async () => {
    const talk = await atWork(lab.spec(lab.program("command", WORKER)));
    const first = lab.spec(reporter());
    const keeper = await untilWaiting();
    const stopped = await atWork(first);
    await stopped.session.stop();
    expect(identify(keeper)).toBeNull();
    await Promise.all([talk.end(), stopped.end()]);
  });

  it("gets no session after the signal for its last one", async () => {
    const talk = await atWork(lab.spec(lab.program("command", WORKER)));
    const [first, second] = [lab.spec(reporter()), lab.spec(reporter())];
    const keeper = await untilWaiting();
    const closed = await atWork(first);
    const record = readFileSync(fileOf(first, "keeper.json"));
    await closed.session.close();
    process.kill(keeper, "SIGSTOP");
    // As if the end of the first session had read `keeper.json` just before the keeper removed it.
    writeFileSync(fileOf(first, "keeper.json"), record);
    // The grace of the first keeper never passes, however long the second session needs to start.
    const ending = lab.newHost({ world: { ...realWorld, mono: () => 0 } }).end(first.runId, first.sessionId);
    const next = await atWork(second);
    expect(keeperOf(second)).not.toBe(keeper);
    // The second session has not waited for the end of the first keeper.
    expect(identify(keeper)).not.toBeNull();
    process.kill(keeper, "SIGCONT");
    await ending;
    expect(identify(keeper)).toBeNull();
    await Promise.all([talk.end(), closed.end(), next.end()]);
  });

  it("that dies at the hand-over is replaced, and the session starts once", async () => {
    const [first, second] = [lab.spec(lab.program("command", WORKER)), lab.spec(lab.program("command", WORKER))];
    const talk = await atWork(first);
    const waiting = await untilWaiting();
    process.kill(waiting, "SIGSTOP");
    const opened = atWork(second);
    await expect.poll(() => existsSync(fileOf(second, "spec.json"))).toBe(true);
    process.kill(waiting, "SIGKILL");
    const next = await opened;
    expect(keeperOf(second)).not.toBe(waiting);
    await Promise.all([talk.end(), next.end()]);
  });

  it("ends by itself when its engine is killed", async () => {
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const program = `
      import { SpareKeeper } from ${url("../../src/session/keeper/spare-keeper.ts")};
      const spare = new SpareKeeper(${JSON.stringify(lab.folder)});
      spare.addSession();
      spare.prepare(null);
      setInterval(() => {}, 1000);`;
    const engine = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    await expect.poll(spares).toHaveLength(1);
    engine.kill("SIGKILL");
    await once(engine, "exit");
    await expect.poll(spares).toEqual([]);
  });
});
