import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentOf, finished, Lab } from "../lab/lab.ts";
import { repetitions } from "../lab/repetitions.ts";

const PROGRAM = fileURLToPath(new URL("../lab/run-alone.ts", import.meta.url));
/** A busy machine collects garbage late. A limited heap keeps that from counting as memory that is in use. */
const HEAP = ["--max-old-space-size=80", "--max-semi-space-size=4"];
/**
 * In megabytes. These runs take about 45. The output as a whole would take more than 220, and a little of each message
 * more than the heap's limit, which ends the program.
 */
const MOST = 90;

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

interface Measured {
  status: string;
  started: number;
  ran: number;
  read: number;
  counts: Record<string, number>;
  omitted: number;
}

async function measure(...talk: number[]): Promise<Measured> {
  mkdirSync(lab.data, { recursive: true });
  writeFileSync(join(lab.data, "tutti.config.json"), JSON.stringify({ sessions: { maxOutputMb: 1000 } }));
  const agent = agentOf("command", "talker.ts", ...talk.map(String));
  const child = spawn(process.execPath, [...HEAP, PROGRAM, lab.data, lab.repo, agent], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = await finished(child);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Measured;
}

describe("An engine whose agent writes too much", () => {
  it("reads a line of 200 MB, a million short lines and many messages within bounded memory, and completes the run", async () => {
    const { status, started, ran, read, counts, omitted } = await measure(200, 1_000_000, 50_000);
    expect(status).toBe("completed");
    expect(ran - started).toBeLessThan(MOST);
    expect(read - started).toBeLessThan(MOST);
    expect(counts["text"]).toBeGreaterThan(50_000);
    expect(omitted).toBeGreaterThan(15_000_000);
  });

  const MESSAGES = repetitions(300_000, 1_000_000);
  it(`reads ${MESSAGES} messages of one session within bounded memory`, async () => {
    const { status, started, ran, read, counts } = await measure(0, 0, MESSAGES);
    expect(status).toBe("completed");
    expect(ran - started).toBeLessThan(MOST);
    expect(read - started).toBeLessThan(MOST);
    expect(counts["text"]).toBeGreaterThan(MESSAGES);
  });
});
