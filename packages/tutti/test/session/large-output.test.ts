// Agents that write too much: the disk stays bounded, and reading goes on in slices.
import fs, {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listen, oneTurn, SessionLab, texts, turn } from "./session-lab.ts";
import { DEFAULT_PERMISSIONS } from "../../src/schema/permissions.ts";
import { JsonLinesDecoder } from "../../src/session/drivers/json-lines.ts";
import { watchOutput } from "../../src/session/keeper/output-limit.ts";
import { SessionReader } from "../../src/session/keeper/read-session.ts";
import { makeSessionFolder, paths, readEnd, writeJson, writeSpec } from "../../src/session/keeper/session-folder.ts";
import { trimFile } from "../../src/session/keeper/trim-file.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { FileMask, maskLeftovers } from "../../src/session/secrets/mask-file.ts";
import { maskLongText } from "../../src/session/secrets/mask-long-text.ts";
import { maskText } from "../../src/session/secrets/mask.ts";
import type { SessionSpec } from "../../src/session/session.ts";
import { Transcript } from "../../src/session/transcript/transcript.ts";

const MEGABYTE = 1_000_000;
const LIMIT = 2 * MEGABYTE;
const SECRET = `ghp_${"k3".repeat(18)}`;

describe("An agent under a keeper", () => {
  let lab: SessionLab;
  beforeEach(() => {
    lab = new SessionLab({ maxOutputBytes: () => LIMIT });
  });
  afterEach(() => lab.tearDown());

  const filesOf = ({ runId, sessionId }: SessionSpec) => paths(join(lab.folder, "sessions", runId, sessionId));

  it.each(["command", "text"] as const)(
    "of the kind %s that writes far too much is killed, and the beginning and the end of its output stay",
    async (kind) => {
      const agent = lab.program(
        kind,
        `import { writeFileSync, writeSync } from "node:fs";
         process.on("SIGTERM", () => writeFileSync(${JSON.stringify(join(lab.folder, "asked-to-end"))}, ""));
         ${lab.keeperRounds()}
         process.stdin.once("data", async () => {
           writeSync(1, "the beginning\\n");
           const write = (i) => writeSync(1, ("line " + i + " ${SECRET} ").padEnd(9999, ".") + "\\n");
           for (let i = 0; i < 150; i++) write(i);
           // The keeper has masked these lines when it trims the output.
           await keeperRounds(1);
           for (let i = 150; i < 4000; i++) write(i);
           // A keeper without a limit lets it exit.
           await keeperRounds(20);
           process.exit();
         });`,
      );
      const spec = lab.spec(agent);
      const session = lab.host.open(spec);
      const signals = await listen(
        session,
        ({ type }) => type === "gone" || type === "turnOver",
        async ({ type }) => {
          if (type === "ready") await session.deliver(turn(1));
        },
      );
      await session.stop();
      expect(signals).toContainEqual({ type: "tooMuchOutput", limit: LIMIT });
      expect(signals.at(-1)).toEqual({ type: "gone", reason: "the agent wrote too much output", deliberate: false });
      const { output } = filesOf(spec);
      // Until SIGTERM and its grace are over, it could fill the disk.
      expect(existsSync(join(lab.folder, "asked-to-end"))).toBe(false);
      const kept = readFileSync(output, "utf8");
      expect(kept.length).toBeLessThanOrEqual(LIMIT);
      expect(kept).toMatch(/^the beginning\nline 0 [^]*\n\[\d+ bytes left out\]\nline \d+ [^]*$/);
      expect(kept).not.toContain(SECRET);
      const transcript = JSON.stringify(await lab.host.transcript(spec.runId, spec.sessionId));
      expect(transcript).toContain("the beginning");
      expect(lab.processes()).toEqual([]);
    },
  );

  it("may write any amount of errors, of which the beginning and the end stay", async () => {
    const agent = lab.program(
      "command",
      // What it writes in the moment of the truncation may be lost, so "the end" follows that moment.
      `import { fstatSync, writeSync } from "node:fs";
       import { setTimeout as sleep } from "node:timers/promises";
       ${lab.keeperRounds()}
       process.stdin.once("data", async () => {
         writeSync(2, "the beginning\\n");
         for (let round = 0; round < 30; round++) {
           for (let i = 0; i < 100; i++) writeSync(2, "x".repeat(9999) + "\\n");
           await sleep(5);
         }
         for (let round = 0; round < 20 && fstatSync(2).size > ${8 * MEGABYTE}; round++) await keeperRounds(1);
         writeSync(2, "the end\\n");
         console.log(JSON.stringify({ type: "assistant", text: "done" }));
         console.log(JSON.stringify({ type: "turn_end" }));
       });`,
    );
    const spec = lab.spec(agent);
    const session = lab.host.open(spec);
    expect(texts(await oneTurn(session))).toMatch(/done$/);
    await session.stop();
    const errors = readFileSync(filesOf(spec).errors, "utf8");
    expect(errors.length).toBeLessThanOrEqual(8 * MEGABYTE);
    expect(errors).toMatch(/^the beginning\n[^]*\n\[\d+ bytes left out\]\n[^]*the end\n$/);
  });
});

describe("The files of a session", () => {
  let folder: string;
  const secrets = createSecrets(["a-secret-of-the-user-42"]);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-large-"));
    makeSessionFolder(folder);
    writeSpec(folder, {
      sessionId: "session",
      runId: "run",
      agent: "command:agent",
      cwd: folder,
      mode: "stream",
      command: ["agent"],
      dialogue: null,
      permissions: DEFAULT_PERMISSIONS,
      interrupt: null,
      engineFile: join(folder, "engine.json"),
      orphanAfterMs: 1000,
      graceMs: 1000,
      stallMs: null,
      maxOutputBytes: 100 * MEGABYTE,
    });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A line of `megabytes` without an end, which takes many steps to read. */
  function writeLine(megabytes: number): void {
    writeFileSync(paths(folder).output, "");
    const million = "far too many words ".repeat(MEGABYTE / 19);
    for (let i = 0; i < megabytes; i++) appendFileSync(paths(folder).output, million);
  }

  /**
   * The number of turns of the event loop until the promise of `start` resolves. Each look at the clock takes a
   * millisecond, so that it does not depend on the machine after which step a slice is over.
   */
  async function countTurns(start: () => Promise<unknown>): Promise<number> {
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await start().finally(() => clock.mockRestore());
    isDone = true;
    return turns;
  }

  it("are read in steps of less than 100 kB, also within one line", () => {
    writeLine(5);
    const reader = new SessionReader(folder, "stream", () => new JsonLinesDecoder(), { secrets });
    const steps = [...reader.read()];
    expect(steps.every((step) => step === null)).toBe(true);
    expect(steps.length).toBeGreaterThanOrEqual(statSync(paths(folder).output).size / 100_000);
  });

  it("are masked in steps of at most 256 kB, each of which takes a few milliseconds", () => {
    writeLine(5);
    const steps = [...new FileMask(paths(folder).output, secrets).finish()];
    expect(steps.length).toBeGreaterThanOrEqual(Math.floor(statSync(paths(folder).output).size / (256 * 1024)));
  });

  it("become a transcript without blocking other work", async () => {
    writeLine(5);
    const turns = await countTurns(() => new Transcript(folder, secrets).page({ after: 0, limit: 10 }));
    expect(turns).toBeGreaterThan(3);
  });

  it("are masked without blocking other work, and only once", async () => {
    writeLine(30);
    appendFileSync(paths(folder).output, "a-secret-of-the-user-42\n");
    writeJson(paths(folder).end, { reason: "stopped" });
    const turns = await countTurns(() => Promise.all([maskLeftovers(folder, secrets), maskLeftovers(folder, secrets)]));
    expect(turns).toBeGreaterThan(3);
    expect(readFileSync(paths(folder).output, "utf8").slice(-40)).toMatch(/words \*+\n$/);
    expect(readEnd(folder)).toEqual({ reason: "stopped", masked: true });
  });

  it("are trimmed by the engine if the keeper was killed before it could", async () => {
    writeLine(3);
    writeJson(paths(folder).spec, { mode: "stream", maxOutputBytes: LIMIT });
    writeFileSync(paths(folder).errors, "e".repeat(9 * MEGABYTE));
    await maskLeftovers(folder, secrets);
    expect(statSync(paths(folder).output).size).toBeLessThanOrEqual(LIMIT);
    expect(statSync(paths(folder).errors).size).toBeLessThanOrEqual(LIMIT);
  });

  it("lose their middle, and keep whole lines at their end", () => {
    const file = paths(folder).output;
    const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`).join("");
    writeFileSync(file, lines);
    expect(trimFile(file, lines.length)).toBe(false);
    // Half of it, which is kept at the end, is not a multiple of the length of a line.
    expect(trimFile(file, 1006)).toBe(true);
    const kept = readFileSync(file, "utf8");
    expect(kept.length).toBeLessThanOrEqual(1006);
    const [, head, omitted, tail] = /^([^]*)\n\[(\d+) bytes left out\]\n(line [^]*)$/.exec(kept)!;
    expect(lines.startsWith(head!)).toBe(true);
    expect(head!.length).toBeGreaterThan(400);
    expect(lines.endsWith(tail!)).toBe(true);
    expect(tail!.length).toBeGreaterThan(400);
    expect(head!.length + Number(omitted) + tail!.length).toBe(lines.length);
  });

  it("keep the lines in order that a program appends while they are trimmed", () => {
    const file = paths(folder).output;
    const line = (i: number): string => `line ${i} `.padEnd(99, ".") + "\n";
    let count = 0;
    const append = (lines: number): void => {
      appendFileSync(file, Array.from({ length: lines }, () => line(count++)).join(""));
    };
    append(10_000);
    const { readSync } = fs;
    let reads = 0;
    fs.readSync = (...args: unknown[]): number => {
      if (++reads <= 5) append(1000);
      return Reflect.apply(readSync, fs, args);
    };
    syncBuiltinESMExports();
    try {
      expect(trimFile(file, 100_000)).toBe(true);
    } finally {
      fs.readSync = readSync;
      syncBuiltinESMExports();
    }
    const [head, omitted, tail] = readFileSync(file, "utf8").split(/\n\[(\d+) bytes left out\]\n/);
    const lines = Array.from({ length: count }, (_, i) => line(i)).join("");
    expect(lines.startsWith(head!)).toBe(true);
    expect(lines.endsWith(tail!)).toBe(true);
    expect(tail).toMatch(/^line /);
    expect(head!.length + Number(omitted) + tail!.length).toBe(lines.length);
    expect(reads).toBeGreaterThan(5);
  });

  it("are not trimmed through a link that the agent put in their place", () => {
    const target = join(folder, "of-the-user");
    writeFileSync(target, "x".repeat(5000));
    symlinkSync(target, paths(folder).output);
    expect(trimFile(paths(folder).output, 1000)).toBe(false);
    expect(statSync(target).size).toBe(5000);
  });

  it("do not block the keeper while a program appends faster than they are trimmed", () => {
    const file = paths(folder).output;
    const more = Buffer.alloc(2 * MEGABYTE, "x");
    writeFileSync(file, more);
    const { readSync } = fs;
    let reads = 0;
    fs.readSync = (...args: unknown[]): number => {
      if (++reads > 1000) throw new Error("The file is read without an end.");
      appendFileSync(file, more);
      return Reflect.apply(readSync, fs, args);
    };
    syncBuiltinESMExports();
    try {
      expect(trimFile(file, MEGABYTE)).toBe(true);
    } finally {
      fs.readSync = readSync;
      syncBuiltinESMExports();
    }
    expect(reads).toBeGreaterThan(10);
  });

  it("may contain four times as much of an agent's own protocol, which is removed at the end", async () => {
    let exceeded = 0;
    let checked = 0;
    writeFileSync(paths(folder).raw, "r".repeat(4000));
    writeFileSync(paths(folder).output, "o".repeat(1000));
    writeFileSync(paths(folder).errors, "e".repeat(9 * MEGABYTE));
    const onExceeded = () => void (exceeded += 1);
    watchOutput({ folder, maxBytes: 1000, onExceeded, onTrimmedErrors: () => void (checked += 1) });
    await expect.poll(() => checked).toBe(1);
    expect(exceeded).toBe(0);
    appendFileSync(paths(folder).raw, "r");
    // A check that trims these errors sees the longer `raw.log`, too.
    writeFileSync(paths(folder).errors, "e".repeat(9 * MEGABYTE));
    await expect.poll(() => checked).toBe(2);
    expect(exceeded).toBeGreaterThan(0);
  });
});

it("The reports of an agent, which its keeper writes for it, are limited like its output", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-reports-"));
  try {
    writeFileSync(paths(folder).journal, "j".repeat(1001));
    writeFileSync(paths(folder).errors, "e".repeat(9 * MEGABYTE));
    const [exceeded, checked] = [vi.fn(), vi.fn()];
    watchOutput({ folder, maxBytes: 1000, onExceeded: exceeded, onTrimmedErrors: checked });
    await expect.poll(() => checked.mock.calls.length).toBeGreaterThan(0);
    expect(exceeded).toHaveBeenCalled();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("A long text", () => {
  it("is masked like a short one, in steps", () => {
    const secrets = createSecrets(["a-secret-of-the-user-42"]);
    const word = fc.constantFrom(
      "a-secret-of-the-user-42",
      "sk-ant-abcdefghijklmnop1234",
      "\\u0061-secret-of-the-user-42",
      "\\\\",
      "\\n",
      "wörter ",
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, fc.integer({ min: 0, max: 40_000 })), { minLength: 5, maxLength: 12 }),
        (words) => {
          const text = words.map(([each, gap]) => `${"some words ".repeat(gap / 11)}${each} `).join("");
          const steps = maskLongText(secrets, text);
          let count = 0;
          let step = steps.next();
          for (; !step.done; step = steps.next()) count += 1;
          expect(step.value).toBe(maskText(secrets, text));
          expect(count).toBeGreaterThanOrEqual(Math.floor(text.length / 140_000));
        },
      ),
      { numRuns: 40 },
    );
  });
});
