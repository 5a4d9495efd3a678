import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionLab, texts, turn } from "./session-lab.ts";
import { Conversation } from "../agents/conversation.ts";
import { pathName } from "../../src/schema/ids.ts";
import { SpareKeeper } from "../../src/session/keeper/spare-keeper.ts";
import { findSessionProcesses } from "../../src/session/keeper/session-processes.ts";
import type { ProcessIdentity } from "../../src/session/process.ts";
import type { SessionHost, SessionSpec } from "../../src/session/session.ts";

/** Stays at work until its second turn. Its child has neither its environment nor its process group. */
const WORKER = `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
spawn("setsid", ["env", "-i", "sleep", "1000"], { stdio: "ignore" });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ type: "assistant", text: process.env.COLOUR + " " + process.cwd() }));
  if (JSON.parse(line).text === "finish") console.log(JSON.stringify({ type: "turn_end" }));
}`;

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
    expect(texts(next.heard)).toBe(`green ${lab.cwd}`);
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
    await expect.poll(() => lab.processes()).toEqual([]);
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
