// Following a run in this terminal until it ends, asks for something nobody here can give, or is interrupted.
import { createInterface } from "node:readline/promises";
import {
  describeEvent,
  describeItem,
  describeOutcome,
  describePause,
  describePlan,
  howToAnswer,
  plural,
} from "./describe.ts";
import type { Output } from "./output.ts";
import type { Engine } from "./local-engine.ts";
import { ERRORS, TuttiError } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { InboxItem } from "../schema/inbox.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

const INTERRUPTED = 130;

export interface FollowOptions {
  engine: Engine;
  output: Output;
  id: string;
  signal: AbortSignal;
  yes: boolean;
  allowDegraded: boolean;
  start: boolean;
}

export async function follow(options: FollowOptions): Promise<number> {
  const { engine, output, id, signal } = options;
  const interrupted = new Promise<"interrupted">((resolve) => {
    if (signal.aborted) resolve("interrupted");
    signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  if (options.start) for (const event of engine.events({ run: id })) show(output, event, engine.get(id)!);
  const leave = engine.subscribe((event, run) => run.id === id && show(output, event, run));
  try {
    if (options.start) await engine.start(id);
    const end = await Promise.race([attend(options), interrupted]);
    if (end !== "interrupted") return end;
    output.line(`stopped; go on with: tutti attach ${id}`);
    return INTERRUPTED;
  } finally {
    leave();
  }
}

function show(output: Output, event: StoredEvent, run: Run): void {
  const { seq, run: runId, runSeq, type, data, timestamp } = event;
  output.value({ seq, run: runId, runSeq, type, data, timestamp: new Date(timestamp).toISOString() });
  if (event.type === "orchestrator:started") for (const warning of event.data.warnings) output.warn(warning);
  const line = describeEvent(event, run);
  if (line !== null) output.line(line);
}

/** Goes from one thing that needs a person to the next, until the run is over. */
async function attend({ engine, output, id, signal, yes, allowDegraded }: FollowOptions): Promise<number> {
  for (;;) {
    const run = await engine.until(
      id,
      (each) =>
        isRunOver(each.status) ||
        each.status === "confirming" ||
        needsResume(each) ||
        questionNow(each, engine, output) !== null,
    );
    if (isRunOver(run.status)) break;
    if (needsResume(run)) throw new TuttiError("wrong_state", `${describePause(run)}: tutti resume ${run.id}`);
    const question = questionNow(run, engine, output);
    if (question) await askQuestion(engine, output, run, question, signal);
    else await settlePlan(engine, output, run, yes, signal);
  }
  await engine.settled(id);
  const outcome = await engine.result(id);
  output.value(outcome);
  for (const line of describeOutcome(outcome)) output.result(line);
  for (const item of Object.values(engine.get(id)!.inbox)) output.result(describeItem(item));
  if (outcome.outcome === "success" || (outcome.outcome === "degraded" && allowDegraded)) return 0;
  return engine.get(id)!.errors.some(({ code }) => code === "agent_not_startable")
    ? ERRORS.agent_not_startable.exit
    : 1;
}

export const isTerminal = (output: Output): boolean => process.stdin.isTTY && process.stdout.isTTY && !output.json;

/** What keeps a run, or a part of it, from going on. A plan is asked for in its own way; a failed task holds nobody up. */
const WAITED_FOR: ReadonlySet<InboxItem["kind"]> = new Set(["question", "decision", "budget"]);

/** A run that was paused and waits for no answer goes on only when it is resumed. */
const needsResume = (run: Run): boolean =>
  run.status === "paused" && !Object.values(run.inbox).some(({ kind }) => kind === "decision" || kind === "budget");

/** With a terminal a question is put at once; without one only when nothing else can go on. */
function questionNow(run: Run, engine: Engine, output: Output): InboxItem | null {
  const [first] = Object.values(run.inbox).filter((item) => WAITED_FOR.has(item.kind));
  return first && (isTerminal(output) || engine.waitsForPerson(run)) ? first : null;
}

async function settlePlan(engine: Engine, output: Output, run: Run, yes: boolean, signal: AbortSignal): Promise<void> {
  output.line(`plan of ${plural(run.tasks.length, "task")}:`);
  for (const line of describePlan(run)) output.line(line);
  if (run.planErrors.length > 0) {
    throw new TuttiError("invalid_plan", `the plan of ${run.id} cannot be carried out: ${run.planErrors.join("; ")}`, {
      details: run.planErrors,
    });
  }
  if (yes) {
    await engine.confirm(run.id);
  } else if (!isTerminal(output)) {
    throw new TuttiError("needs_confirmation", `the plan of ${run.id} waits to be confirmed: tutti confirm ${run.id}`, {
      details: { id: run.id },
    });
  } else {
    await askToConfirm(engine, run, signal);
  }
}

/** Only a clear yes confirms, and a no loses nothing: the plan waits. */
async function askToConfirm(engine: Engine, run: Run, signal: AbortSignal): Promise<void> {
  for (;;) {
    const typed = (await prompt("Carry out this plan? [y/n] ", signal)).trim().toLowerCase();
    if (typed === "y" || typed === "yes") return void (await engine.confirm(run.id));
    if (typed === "n" || typed === "no") {
      const next = `tutti confirm ${run.id}, or tutti cancel ${run.id}`;
      throw new TuttiError("needs_confirmation", `the plan of ${run.id} waits: ${next}`, { details: { id: run.id } });
    }
  }
}

const asker = ({ taskId, kind }: InboxItem): string =>
  kind === "budget" ? "the budget" : (taskId ?? "the main session");

async function askQuestion(
  engine: Engine,
  output: Output,
  run: Run,
  item: InboxItem,
  signal: AbortSignal,
): Promise<void> {
  if (!isTerminal(output)) {
    throw new TuttiError("needs_answer", `${asker(item)} of ${run.id} asks: ${item.question} — ${howToAnswer(item)}`, {
      details: item,
    });
  }
  output.line(`${asker(item)} asks: ${item.question}`);
  for (const [i, option] of (item.options ?? []).entries()) output.line(`  ${i}  ${option}`);
  const typed = (await prompt("> ", signal)).trim();
  const option = /^\d+$/.test(typed) ? Number(typed) : -1;
  if (item.options?.[option] !== undefined) await engine.answer(item.id, { option });
  else if (typed === "" || item.kind === "budget") {
    output.line(`please type ${item.options ? `a number from 0 to ${item.options.length - 1}` : "an answer"}`);
  } else await engine.answer(item.id, { text: typed });
}

export async function prompt(question: string, signal: AbortSignal): Promise<string> {
  // The terminal keeps its own way of editing a line: one whose settings were changed could not be closed in order.
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  try {
    return await terminal.question(question, { signal });
  } catch (error) {
    // End of input is no answer; an interrupt is dealt with by whoever waits for it.
    if ((error as Error).name === "AbortError") throw new TuttiError("needs_confirmation", "nobody answered");
    throw error;
  } finally {
    terminal.close();
  }
}
