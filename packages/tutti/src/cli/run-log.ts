// A run's log: taken along, taken in, folded again, and gone on from.
import { writeFileSync } from "node:fs";
import { withTrustHint } from "./create-trusted.ts";
import { describeEvent } from "./describe.ts";
import { findRunId } from "./find-run.ts";
import { openLook } from "./look.ts";
import type { Output } from "./output.ts";
import { readFile } from "./read-file.ts";
import type { TakenRun } from "./runs.ts";
import { steer } from "./steer.ts";
import { toTuttiError } from "./to-tutti-error.ts";
import { apply } from "../run/apply.ts";
import { TuttiError } from "../schema/error.ts";
import type { Run } from "../schema/run.ts";

export async function exportRun(output: Output, typed: string, file: string | undefined): Promise<number> {
  const look = await openLook(output);
  const id = await findRunId(look, typed);
  const text = await look.copy(id);
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
  return steer(output, [], async (runs) => {
    const taken = await runs.import(text, flags.trust).catch((error: unknown) => {
      throw withTrustHint(toTuttiError(error));
    });
    output.value(taken.map(({ id, status }) => ({ id, status })));
    for (const run of taken) output.result(`imported ${run.id}, ${standing(run)}`);
    return 0;
  });
}

export async function replay(output: Output, typed: string, flags: { until?: string }): Promise<number> {
  const until = flags.until === undefined ? undefined : readCount("--until", flags.until);
  const look = await openLook(output);
  const id = await findRunId(look, typed);
  const events = await look.events(id);
  if (until !== undefined && until > events.length) {
    throw new TuttiError("event_not_found", `run ${id} has ${events.length} events, not ${until}`);
  }
  let run: Run | null = null;
  const steps = events.slice(0, until);
  for (const event of steps) {
    run = apply(run, event);
    const { runSeq, type, data } = event;
    const timestamp = new Date(event.timestamp).toISOString();
    output.value({ runSeq, type, data, timestamp, status: run.status });
    output.result(`${String(runSeq).padStart(6)}  ${timestamp}  ${describeEvent(event, run) ?? type}`);
  }
  const problems = await look.problems(id);
  output.value({ id, events: steps.length, status: run?.status ?? null, problems });
  output.result(`${steps.length} events, ${run?.status ?? "nothing"}${problems.length === 0 ? ", in order" : ""}`);
  for (const problem of problems) output.result(`problem: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

export async function fork(output: Output, typed: string, flags: { at?: string; fresh?: boolean }): Promise<number> {
  const at = flags.at === undefined ? undefined : readCount("--at", flags.at);
  return steer(output, [], async (runs) => {
    const from = await findRunId(runs, typed);
    const run = await runs.fork(from, { at, fresh: flags.fresh ?? false });
    output.value({ id: run.id, from, status: run.status });
    output.result(`forked ${from} to ${run.id}, ${standing(run)}`);
    return 0;
  });
}

/** How it stands, and how it goes on if it waits for that. */
const standing = ({ id, status }: TakenRun): string =>
  status === "paused" ? `${status}: go on with tutti resume ${id}` : status;

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
