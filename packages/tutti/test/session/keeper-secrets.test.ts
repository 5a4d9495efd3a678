import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CANARIES, leaksIn, SECRET_ENV } from "./canaries.ts";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import { killListed } from "../lab/lab.ts";
import type { SessionSpec } from "../../src/session/session.ts";

let lab: SessionLab;
let secrets: string;
beforeEach(() => {
  lab = new SessionLab({ agentEnv: SECRET_ENV });
  secrets = join(lab.folder, "secrets.json");
  writeFileSync(secrets, JSON.stringify(CANARIES.map(({ printed }) => printed)));
});
afterEach(() => lab.tearDown());

const kept = ({ runId, sessionId }: SessionSpec, name: string): string =>
  readFileSync(join(lab.folder, "sessions", runId, sessionId, name), "utf8");

/** All texts of a file of messages, joined. */
const partsIn = (file: string): string => [...file.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text).join("");

/** A minimal ACP agent for one turn. It prints the given texts, or all secrets. */
const acpAgent = (parts: string[] = []) =>
  `acp:${lab
    .program(
      "command",
      `import { createInterface } from "node:readline";
     import { readFileSync } from "node:fs";
     const all = JSON.parse(readFileSync(${JSON.stringify(secrets)}, "utf8")).join(" ;\\n");
     const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
     const update = (text) => send({ method: "session/update", params: { sessionId: "c",
       update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } } });
     for await (const line of createInterface({ input: process.stdin })) {
       const { id, method } = JSON.parse(line);
       if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
       if (method === "session/new") send({ id, result: { sessionId: "c" } });
       if (method !== "session/prompt") continue;
       console.error(all);
       const parts = ${JSON.stringify(parts)};
       update("it is " + (parts.length > 0 ? "" : all));
       for (const part of parts) update(part);
       send({ id, result: { stopReason: "end_turn" } });
     }`,
    )
    .slice("command:".length)}`;

describe("An agent that prints secrets", () => {
  it("and has its own protocol leaves none in its own output and none in the keeper's", async () => {
    const spec = lab.spec(acpAgent());
    const session = lab.host.open(spec);
    const signals = await oneTurn(session);
    expect(signals.at(-1)).toMatchObject({ type: "turnOver", ending: { kind: "ended" } });
    expect(texts(signals)).toContain("it is ***");
    // The keeper masks its own output before it writes it.
    expect(kept(spec, "output.log")).toContain("it is ***");
    expect(leaksIn(kept(spec, "output.log") + texts(signals))).toEqual([]);
    await expect.poll(() => leaksIn(kept(spec, "raw.log"))).toEqual([]);
    await session.stop();
    for (const name of ["stderr.log", "journal.jsonl"]) expect([name, leaksIn(kept(spec, name))]).toEqual([name, []]);
    expect(kept(spec, "stderr.log")).toContain("*****");
  });

  it.each([
    { how: "ends by itself", isKilled: false },
    { how: "loses its keeper", isKilled: true },
  ])("and splits one over many messages leaves no part of it after it $how", async ({ isKilled }) => {
    const { printed, core } = CANARIES.find(({ name }) => name === "OpenAI")!;
    const spec = lab.spec(acpAgent(printed.split("")));
    const session = lab.host.open(spec);
    const signals = await oneTurn(session);
    expect(texts(signals)).toContain("it is ***");
    const parts = signals.flatMap((signal) => (signal.type === "partial" ? [signal.text] : [])).join("");
    expect(parts).toContain("it is ***");
    expect(parts).not.toContain(core);
    expect(partsIn(kept(spec, "output.log"))).not.toContain(core);
    expect(partsIn(kept(spec, "raw.log"))).toContain(core);
    if (isKilled) {
      killListed(lab.processes());
      await listen(session, ({ type }) => type === "gone");
    } else {
      await session.close();
    }
    expect(existsSync(join(lab.folder, "sessions", spec.runId, spec.sessionId, "raw.log"))).toBe(false);
  });

  it.each([
    { how: "ends", isKilled: false },
    { how: "loses its keeper", isKilled: true },
  ])("and stores them in its own folders leaves none there when it $how", async ({ isKilled }) => {
    const spec = lab.spec(acpAgent());
    const folder = join(lab.folder, "sessions", spec.runId, spec.sessionId);
    const all = CANARIES.map(({ printed }) => printed);
    const line = JSON.stringify({ type: "user", message: { content: all } });
    const users = join(lab.folder, "of the user.json");
    writeFileSync(users, line);
    const session = lab.host.open(spec);
    await oneTurn(session);
    mkdirSync(join(folder, "claude/projects/x"), { recursive: true });
    mkdirSync(join(folder, "codex/sessions/2026"), { recursive: true });
    const transcripts = ["claude/projects/x/1.jsonl", "codex/sessions/2026/rollout.jsonl"];
    for (const name of transcripts) writeFileSync(join(folder, name), `${line}\n`);
    const gone = ["claude/.claude.json", "claude/settings.json", "codex/config.toml", "codex/history_1.sqlite-wal"];
    for (const name of gone) writeFileSync(join(folder, name), line);
    symlinkSync(users, join(folder, "codex/auth.json"));
    if (isKilled) {
      killListed(lab.processes());
      await listen(session, ({ type }) => type === "gone");
    } else {
      await session.stop();
    }
    for (const name of transcripts) {
      expect([name, leaksIn(kept(spec, name))]).toEqual([name, []]);
      // Still the transcript that the agent can read.
      expect(Buffer.byteLength(kept(spec, name))).toBe(Buffer.byteLength(line) + 1);
      expect(JSON.parse(kept(spec, name))).toMatchObject({
        type: "user",
        message: { content: { length: all.length } },
      });
    }
    expect(gone.filter((name) => existsSync(join(folder, name)))).toEqual([]);
    expect(readFileSync(users, "utf8")).toBe(line);
  });

  it("and splits one over partial messages leaves none at its end, and its text stays readable", async () => {
    const { printed, core } = CANARIES.find(({ name }) => name === "OpenAI")!;
    const said = [
      ...printed.split("").map((text) => ({ type: "assistant", text, partial: true })),
      { type: "assistant", text: 'it says "partial"' },
      { type: "assistant", text: "x".repeat(5_000_000), partial: true },
      { type: "assistant", text: "the end" },
      { type: "turn_end" },
    ];
    const lines = said.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(join(lab.folder, "lines"), lines);
    const agent = lab.program(
      "command",
      `import { readFileSync, writeSync } from "node:fs";
       process.stdin.once("data", () => {
         for (let rest = readFileSync(${JSON.stringify(join(lab.folder, "lines"))}); rest.length > 0;)
           rest = rest.subarray(writeSync(1, rest));
       });`,
    );
    const spec = lab.spec(agent);
    const session = lab.host.open(spec);
    await oneTurn(session);
    expect(partsIn(kept(spec, "output.log"))).toContain(core);
    const before = await lab.host.transcript(spec.runId, spec.sessionId);
    await session.stop();
    expect(partsIn(kept(spec, "output.log"))).not.toContain(core);
    expect(kept(spec, "output.log")).toHaveLength(lines.length);
    expect(await lab.newHost().transcript(spec.runId, spec.sessionId)).toEqual(before);
    expect(before.map((entry) => (entry.type === "text" ? entry.text : entry.type))).toEqual([
      "prompt",
      'it says "partial"',
      "the end",
      "turnOver",
    ]);
  });

  it("leaves none in its files while it runs, wherever it splits them", async () => {
    const agent = lab.program(
      "command",
      `import { readFileSync } from "node:fs";
       import { setTimeout as sleep } from "node:timers/promises";
       const text = JSON.parse(readFileSync(${JSON.stringify(secrets)}, "utf8")).join(" ;\\n") + " ;\\n";
       process.stdin.resume();
       process.stdin.once("data", async () => {
         for (let at = 0; at < text.length; at += 701) {
           process.stdout.write(text.slice(at, at + 701));
           process.stderr.write(text.slice(at, at + 701));
           await sleep(20);
         }
         console.log(JSON.stringify({ type: "turn_end" }));
       });`,
    );
    const spec = lab.spec(agent);
    const session = lab.host.open(spec);
    const signals = await oneTurn(session);
    expect(leaksIn(texts(signals))).toEqual([]);
    await expect.poll(() => leaksIn(kept(spec, "output.log") + kept(spec, "stderr.log"))).toEqual([]);
    expect(lab.processes().length).toBeGreaterThan(0);
    await session.stop();
    expect(leaksIn(kept(spec, "output.log") + kept(spec, "stderr.log"))).toEqual([]);
  });

  it("leaves none if its keeper is killed before it masked them", async () => {
    const agent = lab.program(
      "command",
      `import { readFileSync } from "node:fs";
       const secrets = JSON.parse(readFileSync(${JSON.stringify(secrets)}, "utf8"));
       process.stdin.resume();
       process.stdin.once("data", () => {
         // Once the keeper is dead, its engine may end this program at any moment.
         process.kill(process.ppid, "SIGSTOP");
         for (const secret of secrets) console.error(secret);
         console.log(secrets.join("\\n"));
         process.kill(process.ppid, "SIGKILL");
       });`,
    );
    const spec = lab.spec(agent);
    const session = lab.host.open(spec);
    const signals = await listen(
      session,
      ({ type }) => type === "gone",
      async ({ type }) => {
        if (type === "ready") await session.deliver(turn(1));
      },
    );
    expect(signals.at(-1)).toMatchObject({ reason: "its keeper died" });
    expect(kept(spec, "stderr.log")).toContain("*****");
    expect(leaksIn(kept(spec, "output.log") + kept(spec, "stderr.log") + texts(signals))).toEqual([]);
  });

  it("and cannot start has none in the reason", async () => {
    const { printed, core } = CANARIES.find(({ name }) => name === "OpenAI")!;
    const spec = lab.spec(`command:/nowhere/${printed}`);
    const signals = await oneTurn(lab.host.open(spec));
    expect(signals.at(-1)).toMatchObject({ type: "unstartable", error: expect.stringContaining("/nowhere/***") });
    expect(kept(spec, "journal.jsonl")).not.toContain(core);
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toEqual([
      { n: 1, at: expect.any(String), type: "unstartable", error: expect.stringContaining("/nowhere/***") },
    ]);
  });
});
