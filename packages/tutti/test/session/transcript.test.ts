import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import type { TranscriptEntry } from "../../src/schema/transcript.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { pack } from "../../src/session/keeper/session-file.ts";
import { makeSessionFolder, paths, request, turnName, writeSpec } from "../../src/session/keeper/session-folder.ts";
import { leftOut } from "../../src/session/lines/head-and-tail.ts";
import { MAX_TEXT } from "../../src/session/transcript/transcript-entry.ts";
import { Transcript } from "../../src/session/transcript/transcript.ts";

const ALL = { after: 0, limit: Number.POSITIVE_INFINITY };
const secrets = createSecrets([]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-transcript-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a session folder like a keeper. */
function begin(agent = "command:agent", mode: "stream" | "turn" = "stream"): void {
  makeSessionFolder(folder);
  writeSpec(folder, {
    sessionId: "session",
    runId: "run",
    agent,
    cwd: folder,
    mode,
    command: ["agent"],
    dialogue: null,
    permissions: DEFAULT_PERMISSIONS,
    interrupt: null,
    engineFile: join(folder, "engine.json"),
    orphanAfterMs: 1000,
    graceMs: 1000,
    stallMs: null,
    maxOutputBytes: 1_000_000_000,
  });
  writeFileSync(paths(folder).output, "");
}

let written = 0;
beforeEach(() => {
  written = 0;
});

function print(text: string | Buffer): void {
  appendFileSync(paths(folder).output, text);
  written += Buffer.byteLength(text);
}
const send = (...messages: object[]): void => print(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

function note(entry: object): void {
  appendFileSync(paths(folder).journal, `${JSON.stringify({ ...entry, offset: written })}\n`);
}

function sendTurn(turn: number, text: string): void {
  request(folder, "key", turnName(turn), { type: "turn", number: turn, text, input: text });
  note({ type: "sent", turn });
}

const open = (): Transcript => new Transcript(folder, secrets);
const all = (): Promise<TranscriptEntry[]> => open().page(ALL);

/** Writes `turns` turns with `messages` messages each. */
function talk(turns: number, messages: number): void {
  begin();
  note({ type: "started" });
  for (let turn = 1; turn <= turns; turn++) {
    sendTurn(turn, `prompt ${turn}`);
    const printed = Array.from({ length: messages }, (_, i) =>
      i % 3 === 0
        ? `words of ${turn}, ${i}\nand more of them\n`
        : `${JSON.stringify({ type: "assistant", text: `message ${i} of ${turn}` })}\n`,
    );
    print(printed.join(""));
    send({ type: "turn_end" });
  }
}

describe("A transcript", () => {
  it("has the times and the results that the agent or its keeper recorded", async () => {
    begin();
    const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
    note({ type: "started", at: at(0) });
    request(folder, "key", turnName(1), { type: "turn", number: 1, text: "do it", input: "do it" });
    note({ type: "sent", turn: 1, at: at(1) });
    send(
      { type: "tool", id: "a", name: "Read", input: {}, at: at(2) },
      { type: "tool_result", id: "a", text: "two lines", at: at(3) },
      { type: "assistant", text: "no time" },
      { type: "assistant", text: "not a time", at: "<b>now</b>" },
      { type: "turn_end", at: at(4) },
    );
    expect(await all()).toEqual([
      { n: 1, at: at(1), type: "prompt", turn: 1, text: "do it" },
      { n: 2, at: at(2), type: "tool", id: "a", name: "Read", input: {} },
      { n: 3, at: at(3), type: "toolResult", id: "a", text: "two lines" },
      { n: 4, type: "text", text: "no time" },
      { n: 5, type: "text", text: "not a time" },
      { n: 6, at: at(4), type: "turnOver", turn: 1, ending: { kind: "ended", detail: "the turn ended" } },
    ]);
  });

  it("contains messages of unknown types and without required members as they are", async () => {
    begin();
    note({ type: "started" });
    const [strange, halved] = [
      { type: "mood", level: { now: 3 } },
      { type: "tool", input: {} },
    ];
    const long = { type: "blob", data: "x".repeat(300_000) };
    send(strange, halved, long);
    const [first, second, third] = await all();
    expect([first, second]).toEqual([
      { n: 1, type: "other", message: strange },
      { n: 2, type: "other", message: halved },
    ]);
    expect(third).toMatchObject({ n: 3, type: "other", omitted: expect.any(Number) });
  });

  it("contains all signals of a session in order", async () => {
    begin();
    note({ type: "started" });
    const capabilities = {
      partialText: true,
      interrupt: true,
      resume: false,
      permissions: true,
      cost: "usd",
      subagents: true,
    };
    send({ type: "ready", agent: "one", version: "1.2.3", conversation: "c", capabilities });
    sendTurn(1, "do it");
    send(
      { type: "assistant", text: "wo", partial: true },
      { type: "assistant", text: "words" },
      { type: "tool", name: "Read", input: { path: "a" } },
      { type: "subagent", id: "s1", phase: "started", text: "look" },
      { type: "subagent", id: "s1", phase: "done" },
      { type: "usage", inputTokens: 1, outputTokens: 2, usd: 0.5 },
      { type: "ask", id: "q", question: "Which?", options: ["a", "b"] },
      { type: "ask_cancelled", id: "q" },
      { type: "provider_trouble", cause: "overloaded", detail: "529", retryAfterMs: 1000 },
      { type: "unheard_of", text: "?" },
    );
    print("plain\nwords\n");
    note({ type: "interrupted", turn: 1 });
    note({ type: "stalled", forMs: 60_000 });
    note({ type: "exited", code: null, signal: "SIGTERM", deliberate: false });
    const ending = { kind: "interrupted", detail: expect.stringContaining("no activity for 60 s") };
    expect(await all()).toEqual(
      [
        { type: "agent", agent: "one", version: "1.2.3", conversation: "c", capabilities },
        { type: "prompt", turn: 1, text: "do it" },
        { type: "text", text: "words" },
        { type: "tool", name: "Read", input: { path: "a" } },
        { type: "subagent", id: "s1", phase: "started", text: "look" },
        { type: "subagent", id: "s1", phase: "done", text: null },
        { type: "usage", usage: { inputTokens: 1, outputTokens: 2, usd: 0.5 } },
        { type: "ask", askId: "q", question: "Which?", options: ["a", "b"] },
        { type: "askCancelled", askId: "q" },
        { type: "trouble", cause: "overloaded", detail: "529", retryAfterMs: 1000 },
        { type: "other", message: { type: "unheard_of", text: "?" } },
        { type: "text", text: "plain\nwords\n" },
        { type: "interrupted", turn: 1 },
        { type: "stalled", detail: expect.stringContaining("60 s") },
        { type: "turnOver", turn: 1, ending },
      ].map((entry, i) => ({ n: i + 1, ...entry })),
    );
  });

  it("is the same in pages of any size, from any point, with one reader or many", async () => {
    talk(7, 400);
    const whole = await all();
    expect(whole.map(({ n }) => n)).toEqual(whole.map((_, i) => i + 1));
    expect(whole.filter(({ type }) => type === "prompt")).toHaveLength(7);
    const shared = open();
    const page = fc.tuple(fc.nat(whole.length + 3), fc.integer({ min: 1, max: 500 }));
    await fc.assert(
      fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 5 }), fc.boolean(), async (pages, isShared) => {
        const transcript = isShared ? shared : open();
        for (const [after, limit] of pages)
          expect(await transcript.page({ after, limit })).toEqual(whole.slice(after, after + limit));
      }),
      { numRuns: 60 },
    );
    let after = 0;
    for (
      let more = await shared.page({ after, limit: 97 });
      more.length > 0;
      more = await shared.page({ after, limit: 97 })
    )
      after = more.at(-1)!.n;
    expect(after).toBe(whole.length);
  });

  it("continues at the reader's position, without reading earlier output again", async () => {
    talk(20, 2000);
    const transcript = open();
    const whole = await transcript.page(ALL);
    const last = whole.at(-1)!.n;
    // Blank the earlier output: reading it again would yield nothing.
    const spoilt = Math.floor(written * 0.9);
    const fd = openSync(paths(folder).output, "r+");
    writeSync(fd, Buffer.alloc(spoilt, " "), 0, spoilt, 0);
    expect(await transcript.page({ after: last - 1000, limit: 1000 })).toEqual(whole.slice(-1000));
    sendTurn(21, "one more");
    send({ type: "assistant", text: "the newest" });
    expect(await transcript.page({ after: last, limit: 10 })).toEqual([
      { n: last + 1, type: "prompt", turn: 21, text: "one more" },
      { n: last + 2, type: "text", text: "the newest" },
    ]);
  });

  it("shows the newest text while it grows, and final entries before it", async () => {
    begin("text:agent", "turn");
    note({ type: "started" });
    sendTurn(1, "do it");
    const transcript = open();
    const newest = () => transcript.page({ after: 1, limit: 10 });
    print("one ");
    expect(await newest()).toEqual([{ n: 2, type: "text", text: "one " }]);
    print("two\nthree.");
    expect(await newest()).toEqual([{ n: 2, type: "text", text: "one two\nthree." }]);
    expect(await newest()).toEqual([{ n: 2, type: "text", text: "one two\nthree." }]);
    note({ type: "exited", code: 0, signal: null, deliberate: false });
    expect(await newest()).toMatchObject([{ n: 2 }, { n: 3, type: "turnOver" }]);
    expect(await transcript.page(ALL)).toHaveLength(3);
  });

  it("keeps the beginning and the end of long texts, and reports the length of the omitted middle", async () => {
    const half = MAX_TEXT / 2;
    const omitted = 2_000_003 - MAX_TEXT;
    begin("text:agent", "turn");
    note({ type: "started" });
    sendTurn(1, "p".repeat(MAX_TEXT + 5));
    print("a");
    for (let i = 0; i < 20; i++) print("z".repeat(100_000));
    print(".\n");
    note({ type: "exited", code: 0, signal: null, deliberate: false });
    expect(await all()).toMatchObject([
      { type: "prompt", text: `${"p".repeat(half)}${leftOut(5)}${"p".repeat(half)}`, omitted: 5 },
      { type: "text", text: `a${"z".repeat(half - 1)}${leftOut(omitted)}${"z".repeat(half - 2)}.\n`, omitted },
      { type: "turnOver" },
    ]);
    expect((await all())[2]).not.toHaveProperty("omitted");
  });

  it("truncates the input of a tool, and ends a page that is long enough", async () => {
    begin();
    sendTurn(1, "do it");
    for (let i = 0; i < 5; i++) send({ type: "tool", name: "Write", input: { content: "c".repeat(2 * MAX_TEXT) } });
    const [, tool] = await all();
    expect(tool).toMatchObject({ type: "tool", name: "Write", omitted: MAX_TEXT + '{"content":""}'.length });
    const transcript = open();
    const pages = await Promise.all(
      [0, 3, 5].map((after) => transcript.page({ after, limit: 10, characters: 300_000 })),
    );
    expect(pages.map((entries) => entries.map(({ n }) => n))).toEqual([[1, 2, 3], [4, 5], [6]]);
  });
});

describe("A packed transcript", () => {
  it("is read in parts from any point, and is a valid gzip file", async () => {
    talk(5, 8000);
    const whole = await all();
    const { output } = paths(folder);
    const before = readFileSync(output);
    expect(before.length).toBeGreaterThan(1.5 * 1024 * 1024);
    await pack(output);
    expect(existsSync(output)).toBe(false);
    expect(gunzipSync(readFileSync(`${output}.gz`)).equals(before)).toBe(true);
    expect(await all()).toEqual(whole);
    expect(await open().page({ after: 9999, limit: 3 })).toEqual(whole.slice(9999, 10_002));
  });

  it("may be empty, and may have been packed by another program", async () => {
    talk(2, 10);
    const whole = await all();
    const { output, journal } = paths(folder);
    for (const file of [output, journal]) {
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
      rmSync(file);
    }
    expect(await all()).toEqual(whole);
    rmSync(`${output}.gz`);
    writeFileSync(output, "");
    await pack(output);
    expect(gunzipSync(readFileSync(`${output}.gz`))).toHaveLength(0);
    expect((await all()).map(({ type }) => type)).toEqual(["prompt", "prompt"]);
  });
});
