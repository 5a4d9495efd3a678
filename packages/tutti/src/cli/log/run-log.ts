import { withTrustHint } from "../run/create-trusted.ts";
import { eventLine } from "../terminal/describe.ts";
import { findRunId } from "../access/find-run.ts";
import { readRuns, withRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";
import { readFile } from "../input/read-file.ts";
import type { TakenRun } from "../access/runs.ts";
import { writeNew } from "../terminal/write-new.ts";
import { toTuttiError } from "../to-tutti-error.ts";
import { apply } from "../../run/apply.ts";
import { TuttiError } from "../../schema/error.ts";
import type { Run } from "../../schema/run.ts";

export async function exportRun(output: Output, idPrefix: string, file: string | undefined): Promise<number> {
  const runs = await readRuns(output);
  const id = await findRunId(runs, idPrefix);
  const text = await runs.copy(id);
  if (file === undefined) process.stdout.write(text);
  else {
    writeNew(file, text);
    output.value({ id, file });
    output.result(`exported ${id} to ${file}`);
  }
  return 0;
}

export async function importFile(output: Output, file: string, flags: { trust?: string }): Promise<number> {
  const text = await readFile(file);
  return withRuns(output, async (runs) => {
    const imported = await runs.import(text, flags.trust).catch((error: unknown) => {
      throw withTrustHint(toTuttiError(error));
    });
    output.value(imported.map(({ id, status }) => ({ id, status })));
    for (const run of imported) output.result(`imported ${run.id}, ${describeStatus(run)}`);
    return 0;
  });
}

export async function replay(output: Output, idPrefix: string, flags: { until?: string }): Promise<number> {
  const until = flags.until === undefined ? undefined : readCount("--until", flags.until);
  const runs = await readRuns(output);
  const id = await findRunId(runs, idPrefix);
  const events = await runs.events(id);
  if (until !== undefined && until > events.length) {
    throw new TuttiError(
      "event_not_found",
      `Run "${id}" has no event ${until}. Give --until a number from 1 to ${events.length}.`,
    );
  }
  let run: Run | null = null;
  const steps = events.slice(0, until);
  for (const event of steps) {
    run = apply(run, event);
    const { runSeq, type, data } = event;
    const timestamp = new Date(event.timestamp).toISOString();
    output.value({ runSeq, type, data, timestamp, status: run.status });
    output.result(`${String(runSeq).padStart(6)}  ${timestamp}  ${eventLine(event, run) ?? type}`);
  }
  const problems = await runs.problems(id);
  output.value({ id, events: steps.length, status: run?.status ?? null, problems });
  output.result(`${steps.length} events, ${run?.status ?? "no state"}${problems.length === 0 ? ", no problems" : ""}`);
  for (const problem of problems) output.result(`problem: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

export async function fork(output: Output, idPrefix: string, flags: { at?: string; fresh?: boolean }): Promise<number> {
  const at = flags.at === undefined ? undefined : readCount("--at", flags.at);
  return withRuns(output, async (runs) => {
    const from = await findRunId(runs, idPrefix);
    const run = await runs.fork(from, { at, fresh: flags.fresh ?? false });
    output.value({ id: run.id, from, status: run.status });
    output.result(`forked ${from} to ${run.id}, ${describeStatus(run)}`);
    return 0;
  });
}

const describeStatus = ({ id, status }: TakenRun): string =>
  status === "paused" ? `${status}. Resume it with: tutti resume ${id}` : status;

function readCount(flag: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new TuttiError("usage", `"${text}" is not a valid value of ${flag}. Give the number of an event, from 1.`);
}
