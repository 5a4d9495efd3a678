// A run's log: taken along, taken in, folded again, and gone on from.
import { writeFileSync } from "node:fs";
import { withTrustHint } from "./create-trusted.ts";
import { describeEvent } from "./describe.ts";
import { findRun, findRunId } from "./find-run.ts";
import { copyOf, readSummaries, replayLog, withEngine } from "./local-engine.ts";
import { localRuns } from "./local-runs.ts";
import { openLook } from "./look.ts";
import type { Output } from "./output.ts";
import { readFile } from "./read-file.ts";
import { TuttiError } from "../schema/error.ts";

export async function exportRun(output: Output, typed: string, file: string | undefined): Promise<number> {
  const look = await openLook(output);
  const id = await findRunId(look, typed);
  const text = copyOf(id, await look.events(id));
  if (file === undefined) process.stdout.write(text);
  else {
    writeNew(file, text);
    output.value({ id, file });
    output.result(`exported ${id} to ${file}`);
  }
  return 0;
}

export async function importFile(output: Output, file: string, flags: { trust?: string }): Promise<number> {
  const text = readFile(file);
  return withEngine(output, {}, async ({ engine }) => {
    const runs = await engine.import(text, flags).catch((error: unknown) => {
      throw withTrustHint(error);
    });
    output.value(runs.map(({ id, status }) => ({ id, status })));
    for (const { id, status } of runs) {
      output.result(`imported ${id}, ${status}${status === "paused" ? `: go on with tutti resume ${id}` : ""}`);
    }
    return 0;
  });
}

export async function replay(output: Output, typed: string, { until }: { until?: string }): Promise<number> {
  const { id } = findRun(readSummaries(output.dataDir), typed);
  const { steps, problems } = replayLog(
    output.dataDir,
    id,
    until === undefined ? undefined : readCount("--until", until),
  );
  if (until !== undefined && steps.length < Number(until)) {
    throw new TuttiError("usage", `run ${id} has ${steps.length} events, not ${until}`);
  }
  for (const { event, run } of steps) {
    const { runSeq, type, data, timestamp } = event;
    output.value({ runSeq, type, data, timestamp: new Date(timestamp).toISOString(), status: run.status });
    output.result(
      `${String(runSeq).padStart(6)}  ${new Date(timestamp).toISOString()}  ${describeEvent(event, run) ?? type}`,
    );
  }
  const last = steps.at(-1)?.run;
  output.value({ id, events: steps.length, status: last?.status ?? null, problems });
  output.result(`${steps.length} events, ${last?.status ?? "nothing"}${problems.length === 0 ? ", in order" : ""}`);
  for (const problem of problems) output.result(`problem: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

export async function fork(output: Output, typed: string, flags: { at?: string; fresh?: boolean }): Promise<number> {
  return withEngine(output, {}, async (local) => {
    const { engine } = local;
    const from = await findRunId(localRuns(local), typed);
    const at = flags.at === undefined ? undefined : readCount("--at", flags.at);
    const run = await engine.fork(from, at, { fresh: flags.fresh ?? false });
    output.value({ id: run.id, from, status: run.status });
    const next = run.status === "paused" ? `: go on with tutti resume ${run.id}` : "";
    output.result(`forked ${from} to ${run.id}, ${run.status}${next}`);
    return 0;
  });
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const there = (error as NodeJS.ErrnoException).code === "EEXIST";
    const message = there
      ? `there is a file ${file} already`
      : `${file} cannot be written: ${(error as Error).message}`;
    throw new TuttiError(there ? "wrong_state" : "usage", message);
  }
}

function readCount(flag: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new TuttiError("usage", `${flag} takes the number of an event, from 1, not ${text}`);
}
