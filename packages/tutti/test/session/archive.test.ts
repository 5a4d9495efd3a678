import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import type { SessionHost, SessionSpec } from "../../src/session/session.ts";

/** Writes much to stdout and stderr. */
const TALKER = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  console.error("a word aside");
  console.log(JSON.stringify({ type: "tool", name: "Read", input: { path: "ä" } }));
  console.log(JSON.stringify({ type: "assistant", text: "words ".repeat(100_000) + JSON.parse(line).text }));
  console.log(JSON.stringify({ type: "turn_end" }));
}`;

let lab: SessionLab;
beforeEach(() => {
  lab = new SessionLab();
});
afterEach(() => lab.tearDown());

const folderOf = ({ runId, sessionId }: SessionSpec): string => join(lab.folder, "sessions", runId, sessionId);

/** A session that has ended after two turns. */
async function finished(more: Partial<SessionSpec> = {}): Promise<SessionSpec> {
  const spec = lab.spec(lab.program("command", TALKER), more);
  const session = lab.host.open(spec);
  await oneTurn(session, turn(1, "one"));
  await session.deliver(turn(2, "two"));
  await listen(session, (signal) => signal.type === "turnOver" && signal.turn === 2);
  await session.close();
  return spec;
}

const archive = (host: SessionHost, { runId, sessionId }: SessionSpec): Promise<void> => host.archive(runId, sessionId);

describe("An archived session", () => {
  it("takes less space, has a mark, and stays readable", async () => {
    const spec = await finished();
    const before = await lab.host.transcript(spec.runId, spec.sessionId);
    expect(before.filter(({ type }) => type === "prompt")).toHaveLength(2);
    const size = statSync(join(folderOf(spec), "output.log")).size;
    expect(lab.host.isArchived(spec.runId, spec.sessionId)).toBe(false);
    const since = Date.now();
    await archive(lab.host, spec);
    expect(lab.host.isArchived(spec.runId, spec.sessionId)).toBe(true);
    const mark = JSON.parse(readFileSync(join(folderOf(spec), "archive.json"), "utf8")) as { archivedAt: number };
    expect(mark.archivedAt).toBeGreaterThanOrEqual(since);
    for (const name of ["output.log", "stderr.log", "journal.jsonl", "requests/turn-000001.json"])
      expect([name, existsSync(join(folderOf(spec), name))]).toEqual([name, false]);
    expect(statSync(join(folderOf(spec), "output.log.gz")).size).toBeLessThan(size / 10);
    expect(gunzipSync(readFileSync(join(folderOf(spec), "stderr.log.gz"))).toString()).toContain("a word aside");
    expect(await lab.newHost().transcript(spec.runId, spec.sessionId)).toEqual(before);
  });

  it("loses its agent's own files but not the targets of their links, and does not get them back", async () => {
    const spec = await finished();
    const userFolder = join(lab.folder, "own");
    mkdirSync(userFolder);
    writeFileSync(join(userFolder, "auth.json"), "the person's");
    mkdirSync(join(folderOf(spec), "claude/projects"), { recursive: true });
    writeFileSync(join(folderOf(spec), "claude/projects/conversation.jsonl"), "what nobody has masked");
    symlinkSync(userFolder, join(folderOf(spec), "claude/skills"));
    symlinkSync(join(userFolder, "auth.json"), join(folderOf(spec), "claude/auth.json"));
    await archive(lab.host, spec);
    expect(existsSync(join(folderOf(spec), "claude"))).toBe(false);
    expect(readFileSync(join(userFolder, "auth.json"), "utf8")).toBe("the person's");
    await listen(lab.newHost().open({ ...spec, agent: "claude" }), ({ type }) => type === "gone");
    expect(existsSync(join(folderOf(spec), "claude"))).toBe(false);
  });

  it("is archived once, also after repeated and concurrent calls", async () => {
    const spec = await finished();
    await Promise.all([archive(lab.host, spec), archive(lab.host, spec)]);
    const mark = readFileSync(join(folderOf(spec), "archive.json"), "utf8");
    await archive(lab.newHost(), spec);
    expect(readFileSync(join(folderOf(spec), "archive.json"), "utf8")).toBe(mark);
  });

  it("replays its signals when it is opened, and does not start again", async () => {
    const spec = await finished();
    const replay = async () => listen(lab.newHost().open(spec), ({ type }) => type === "gone");
    const before = await replay();
    await archive(lab.host, spec);
    const after = await replay();
    // The text may be split differently.
    expect(texts(after)).toBe(texts(before));
    expect(after.map(({ type }) => type)).toEqual(before.map(({ type }) => type));
    expect(lab.newHost().open(spec).wasDelivered(2)).toBe(true);
    expect(lab.processes()).toEqual([]);
    await lab.host.end(spec.runId, spec.sessionId);
    await lab.host.reap(spec.runId, []);
    expect(lab.host.isArchived(spec.runId, spec.sessionId)).toBe(true);
  });

  it("is completed by the next engine if the archiving engine died", async () => {
    const spec = await finished();
    const before = await lab.host.transcript(spec.runId, spec.sessionId);
    const output = readFileSync(join(folderOf(spec), "output.log"));
    await archive(lab.host, spec);
    // The state after a crash between creating the packed file and removing the plain one, with another one half
    // written.
    rmSync(join(folderOf(spec), "archive.json"));
    writeFileSync(join(folderOf(spec), "output.log"), output);
    writeFileSync(join(folderOf(spec), "journal.jsonl.gz.123.new"), "half");
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toEqual(before);
    await archive(lab.newHost(), spec);
    expect(readdirSync(folderOf(spec)).filter((name) => name === "output.log" || name.endsWith(".new"))).toEqual([]);
    expect(await lab.host.transcript(spec.runId, spec.sessionId)).toEqual(before);
  });

  it("cannot be a live one, whose files stay untouched", async () => {
    const spec = lab.spec(lab.program("command", TALKER));
    const session = lab.host.open(spec);
    await oneTurn(session);
    const before = readdirSync(folderOf(spec));
    await expect(archive(lab.host, spec)).rejects.toMatchObject({ code: "wrong_state" });
    expect(readdirSync(folderOf(spec))).toEqual(before);
    expect(lab.host.isArchived(spec.runId, spec.sessionId)).toBe(false);
    await session.stop();
    await archive(lab.host, spec);
  });

  it("cannot be one whose program survived its keeper", async () => {
    const spec = lab.spec(lab.program("command", `process.stdin.on("end", () => {}); setInterval(() => {}, 1000);`));
    const session = lab.host.open(spec);
    await listen(session, ({ type }) => type === "ready");
    const keeper = lab.processes().find((line) => line.includes("keeper"))!;
    process.kill(Number(keeper.split(" ")[0]), "SIGKILL");
    await expect.poll(() => lab.processes().some((line) => line.includes("keeper"))).toBe(false);
    await expect(archive(lab.host, spec)).rejects.toMatchObject({ code: "wrong_state" });
    await session.stop();
    await archive(lab.host, spec);
    expect(lab.host.isArchived(spec.runId, spec.sessionId)).toBe(true);
  });

  it("may be one that never started", async () => {
    await lab.host.archive("run_none", "session_none");
    expect(lab.host.isArchived("run_none", "session_none")).toBe(false);
  });
});

describe("A run whose sessions are forgotten", () => {
  it("keeps no session, archived or not, and other runs keep theirs", async () => {
    const one = await finished({ runId: "run_gone" });
    const two = await finished({ runId: "run_gone" });
    const other = await finished({ runId: "run_kept" });
    await archive(lab.host, two);
    await lab.host.forget("run_gone");
    await lab.host.forget("run_gone");
    expect(readdirSync(join(lab.folder, "sessions"))).toEqual(["run_kept"]);
    expect(await lab.host.transcript("run_gone", one.sessionId)).toEqual([]);
    expect(await lab.host.transcript("run_kept", other.sessionId)).not.toEqual([]);
  });

  it("must have no live session", async () => {
    const spec = lab.spec(lab.program("command", TALKER), { runId: "run_alive" });
    const session = lab.host.open(spec);
    await oneTurn(session);
    await expect(lab.host.forget("run_alive")).rejects.toMatchObject({
      code: "wrong_state",
      message: expect.stringContaining(spec.sessionId),
    });
    expect(lab.processes()).toHaveLength(2);
    await lab.host.reap("run_alive", []);
    await lab.host.forget("run_alive");
    expect(existsSync(folderOf(spec))).toBe(false);
  });

  it("is forgotten completely by the next engine if the first one died meanwhile", async () => {
    const spec = await finished({ runId: "run_half" });
    const aside = join(lab.folder, "sessions", "run_half.forgotten", spec.sessionId);
    mkdirSync(aside, { recursive: true });
    writeFileSync(join(aside, "spec.json"), "{}");
    await lab.host.forget("run_half");
    expect(readdirSync(join(lab.folder, "sessions"))).toEqual([]);
  });

  it("is identified by an id and never by a path to another folder", async () => {
    for (const name of ["..", ".", "", "../workspace", "a/b", lab.cwd])
      await expect(lab.host.forget(name)).rejects.toMatchObject({ code: "invalid_input" });
    expect(existsSync(lab.cwd)).toBe(true);
  });
});
