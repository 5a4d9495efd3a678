import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionLab, texts, turn } from "./session-lab.ts";
import { Conversation } from "../agents/conversation.ts";
import { pathName } from "../../src/schema/ids.ts";
import { findSessionProcesses } from "../../src/session/keeper/session-processes.ts";
import { WarmKeeper } from "../../src/session/keeper/warm-keeper.ts";
import type { SessionHost, SessionSpec } from "../../src/session/session.ts";
import { realWorld, type World } from "../../src/world.ts";

/** Each answers with its process id, which shows whether it is the one that waited. */
const STREAM = `
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
writeFileSync("pid-" + process.env.TUTTI_SESSION_KEY, String(process.pid));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ type: "assistant", text: process.pid + " " + process.env.TUTTI_MODEL }));
  console.log(JSON.stringify({ type: "turn_end" }));
}`;
const TEXT = `
import { writeFileSync } from "node:fs";
writeFileSync("pid-" + process.env.TUTTI_SESSION_KEY, String(process.pid));
for await (const _ of process.stdin);
console.log(process.pid + " " + process.env.TUTTI_MODEL);`;

/** A slow machine has enough time for the claim of a session. */
const patient: World = { ...realWorld, sleep: (_, ...rest) => realWorld.sleep(600_000, ...rest) };

describe("An agent that waits for its session", () => {
  let lab: SessionLab;
  let host: SessionHost;
  beforeEach(() => {
    lab = new SessionLab();
    host = lab.newHost({ warm: new WarmKeeper(patient) });
  });
  afterEach(() => lab.tearDown());

  const folderOf = ({ runId, sessionId }: SessionSpec): string =>
    join(lab.folder, "sessions", runId, pathName(sessionId));
  const sessionsOf = ({ runId }: SessionSpec): string[] => readdirSync(join(lab.folder, "sessions", runId));

  /** Resolves with the process id of the agent when it waits. */
  async function warm(spec: SessionSpec): Promise<number> {
    expect(host.warm!(spec)).toBe(true);
    const file = join(lab.cwd, `pid-${spec.sessionId}`);
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toBeTruthy();
    return Number(readFileSync(file, "utf8"));
  }

  async function answerOf(opened: SessionHost, spec: SessionSpec): Promise<string> {
    const talk = new Conversation(opened.open(spec));
    await talk.until(({ type }) => type === "ready");
    await talk.session.deliver(turn(1));
    await talk.until(({ type }) => type === "turnOver");
    await talk.end();
    return texts(talk.received).trim();
  }

  it.each([
    ["command", STREAM],
    ["text", TEXT],
  ] as const)("gets the first turn of the session that it was started for (%s:)", async (kind, program) => {
    const spec = lab.spec(lab.program(kind, program), { model: "small" });
    const pid = await warm(spec);
    expect(host.warm!(lab.spec(spec.agent))).toBe(false);
    expect(await host.claim!(spec, true)).toBe(true);
    expect(await answerOf(host, spec)).toBe(`${pid} small`);
    expect(findSessionProcesses(spec.sessionId)).toEqual([]);
    expect(existsSync(join(folderOf(spec), "end.json"))).toBe(true);
  });

  it.each([
    ["other settings", { model: "large" }, true],
    ["a workspace with other instructions", {}, false],
  ])("ends before a session with %s starts with an agent of its own", async (_, change, isCurrent) => {
    const spec = lab.spec(lab.program("command", STREAM), { model: "small" });
    const pid = await warm(spec);
    const started = { ...spec, ...change };
    expect(await host.claim!(started, isCurrent)).toBe(false);
    expect(sessionsOf(spec)).toEqual([]);
    expect(findSessionProcesses(spec.sessionId)).toEqual([]);
    const answer = await answerOf(host, started);
    expect(answer).toMatch(new RegExp(`${started.model}$`));
    expect(answer).not.toMatch(new RegExp(`^${pid} `));
  });

  it("leaves no folder and no process if it is not used, or dies", async () => {
    const agent = lab.program("command", STREAM);
    const ended = lab.spec(agent);
    await warm(ended);
    await host.end(ended.runId, ended.sessionId);
    expect(sessionsOf(ended)).toEqual([]);

    const reaped = lab.spec(agent);
    await expect.poll(() => host.warm!(reaped)).toBe(true);
    await host.reap(reaped.runId, []);
    expect(sessionsOf(reaped)).toEqual([]);

    const died = lab.spec(agent);
    await expect.poll(() => host.warm!(died)).toBe(true);
    const file = join(lab.cwd, `pid-${died.sessionId}`);
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toBeTruthy();
    process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    await expect.poll(() => sessionsOf(died)).toEqual([]);
    expect(await host.claim!(died, true)).toBe(false);
    expect(await answerOf(host, died)).toMatch(/undefined$/);
    await expect.poll(() => lab.processes()).toEqual([]);
  });

  it("vanishes when its engine is killed, also for an engine that wants the session at once", async () => {
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const agent = lab.program(
      "command",
      `import { existsSync } from "node:fs";
       ${lab.keeperRounds()}
       const exitLater = setInterval(async () => {
         if (!existsSync("alone")) return;
         clearInterval(exitLater);
         await keeperRounds(20);
         writeFileSync("outlived-" + process.env.TUTTI_SESSION_KEY, "");
         process.exit();
       }, 20);${STREAM}`,
    );
    const [left, wanted] = [lab.spec(agent), lab.spec(agent)];
    const program = `
      import { createKeeperHost } from ${url("../../src/session/keeper/keeper-host.ts")};
      import { WarmKeeper } from ${url("../../src/session/keeper/warm-keeper.ts")};
      import { realWorld } from ${url("../../src/world.ts")};
      const options = ${JSON.stringify({ folder: join(lab.folder, "sessions"), engineFile: lab.engineFile })};
      for (const spec of ${JSON.stringify([left, wanted])})
        createKeeperHost({ ...options, world: realWorld, warm: new WarmKeeper(realWorld) }).warm(spec);
      setInterval(() => {}, 1000);`;
    const engine = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    for (const { sessionId } of [left, wanted])
      await expect.poll(() => existsSync(join(lab.cwd, `pid-${sessionId}`))).toBe(true);
    engine.kill("SIGKILL");
    await once(engine, "exit");
    expect(await host.claim!(wanted, true)).toBe(false);
    expect(await answerOf(host, wanted)).toMatch(/undefined$/);
    writeFileSync(join(lab.cwd, "alone"), "");
    await expect.poll(() => sessionsOf(left)).toEqual([]);
    expect(existsSync(join(lab.cwd, `outlived-${left.sessionId}`))).toBe(false);
    await expect.poll(() => lab.processes()).toEqual([]);
  });
});
