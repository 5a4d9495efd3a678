// Following a run in this terminal until it ends, asks for something nobody here can give, or is interrupted.
import { openBell } from "./bell.ts";
import { drawBoard } from "./board.ts";
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
import { isTerminal, promptUntil } from "./prompt.ts";
import type { LiveRun, Runs } from "./runs.ts";
import { Screen } from "./screen.ts";
import { waitsForPerson } from "../run/waits-for-person.ts";
import { ERRORS, TuttiError } from "../schema/error.ts";
import type { StoredEvent } from "../schema/event.ts";
import type { InboxItem } from "../schema/inbox.ts";
import { ChangedPlan } from "../schema/plan-changes.ts";
import type { Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";

const INTERRUPTED = 130;

export interface FollowOptions {
  runs: Runs;
  output: Output;
  id: string;
  signal: AbortSignal;
  yes: boolean;
  allowDegraded: boolean;
  start: boolean;
  /** What to say when it is interrupted, instead of how to go on. */
  whenStopped?: string;
}

interface Followed extends FollowOptions {
  live: LiveRun;
  ring: ReturnType<typeof openBell>;
}

export async function follow(options: FollowOptions): Promise<number> {
  const { runs, output, id, signal } = options;
  const interrupted = new Promise<"interrupted">((resolve) => {
    if (signal.aborted) resolve("interrupted");
    signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  const ring = openBell(output);
  const live = await runs.watch(id);
  if (options.start) for (const event of live.past) show(output, event, live.run);
  const board = openBoard(output, live);
  const leave = live.subscribe((event, run) => {
    show(output, event, run);
    board.told(event);
  });
  try {
    if (options.start) await runs.start(id);
    const end = await Promise.race([attend({ ...options, live, ring }, board), interrupted]);
    if (end !== "interrupted") return end;
    board.close(false);
    const how = runs.outlives ? "left; it goes on. Back to it" : "stopped; go on with";
    output.line(options.whenStopped ?? `${how}: tutti attach ${id}`);
    return INTERRUPTED;
  } finally {
    board.close(false);
    leave();
    live.close();
  }
}

interface Board {
  told(event: StoredEvent): void;
  close(keep: boolean): void;
}

/** On a terminal the run is drawn in place below what is told of it; elsewhere lines have to do. */
function openBoard(output: Output, live: LiveRun): Board {
  const { stdout } = process;
  if (!isTerminal(output) || output.quiet || process.env["TERM"] === "dumb") return { told: () => {}, close: () => {} };
  let doing: string | null = null;
  const screen = new Screen(stdout, (size) => drawBoard(live.run, doing, Date.now(), size, output.paint));
  output.screen = screen;
  return {
    told(event) {
      if (event.type === "orchestrator:progress") doing = event.data.currentAction;
      if (event.type === "turn:started" && event.data.taskId === null) doing = null;
      screen.changed();
    },
    close(keep) {
      screen.close({ keep });
      output.screen = null;
    },
  };
}

function show(output: Output, event: StoredEvent, run: Run): void {
  const { seq, run: runId, runSeq, type, data, timestamp } = event;
  output.value({ seq, run: runId, runSeq, type, data, timestamp: new Date(timestamp).toISOString() });
  if (event.type === "orchestrator:started") for (const warning of event.data.warnings) output.warn(warning);
  // Where the run is drawn, who works and how far is seen there.
  if (output.screen !== null && (event.type === "worker:progress" || event.type === "worker:started")) return;
  const line = describeEvent(event, run);
  if (line !== null) output.line(line);
}

/** Goes from one thing that needs a person to the next, until the run is over. */
async function attend(options: Followed, board: Board): Promise<number> {
  const { runs, live, ring, output, id, allowDegraded } = options;
  const wasOver = isRunOver(live.run.status);
  for (;;) {
    const run = await live.until(
      (each) =>
        isRunOver(each.status) ||
        each.status === "confirming" ||
        needsResume(each) ||
        questionNow(each, output) !== null,
    );
    if (isRunOver(run.status)) break;
    if (needsResume(run)) {
      ring("needs_person", run.id);
      throw new TuttiError("wrong_state", `${describePause(run)}: tutti resume ${run.id}`);
    }
    const question = questionNow(run, output);
    output.screen?.hide();
    if (question) await askQuestion(options, run, question);
    else await settlePlan(options, run);
    output.screen?.show();
  }
  await live.settled();
  board.close(true);
  const outcome = await runs.result(id);
  if (!wasOver) ring(outcome.outcome === "failed" ? "failed" : "ended", id);
  output.value(outcome);
  for (const line of describeOutcome(outcome)) output.result(line);
  for (const item of Object.values(live.run.inbox)) output.result(describeItem(item));
  if (outcome.outcome === "success" || (outcome.outcome === "degraded" && allowDegraded)) return 0;
  return live.run.errors.some(({ code }) => code === "agent_not_startable") ? ERRORS.agent_not_startable.exit : 1;
}

/** What keeps a run, or a part of it, from going on. A plan is asked for in its own way; a failed task holds nobody up. */
const WAITED_FOR: ReadonlySet<InboxItem["kind"]> = new Set(["question", "permission", "decision", "budget"]);

/** A run that was paused and waits for no answer goes on only when it is resumed. */
const needsResume = (run: Run): boolean =>
  run.status === "paused" && !Object.values(run.inbox).some(({ kind }) => kind === "decision" || kind === "budget");

/** With a terminal a question is put at once; without one only when nothing else can go on. */
function questionNow(run: Run, output: Output): InboxItem | null {
  const [first] = Object.values(run.inbox).filter((item) => WAITED_FOR.has(item.kind));
  return first && (isTerminal(output) || waitsForPerson(run, Date.now())) ? first : null;
}

async function settlePlan({ runs, live, ring, output, yes, signal }: Followed, run: Run): Promise<void> {
  output.line(`plan of ${plural(run.tasks.length, "task")}:`);
  for (const line of describePlan(run)) output.line(line);
  if (!yes || run.planErrors.length > 0) ring("needs_person", `plan ${run.runSeq}`);
  if (run.planErrors.length > 0) {
    throw new TuttiError("invalid_plan", `the plan of ${run.id} cannot be carried out: ${run.planErrors.join("; ")}`, {
      details: run.planErrors,
    });
  }
  if (yes) {
    await runs.confirm(run.id, ChangedPlan.parse({}));
  } else if (!isTerminal(output)) {
    throw new TuttiError("needs_confirmation", `the plan of ${run.id} waits to be confirmed: tutti confirm ${run.id}`, {
      details: { id: run.id },
    });
  } else {
    await askToConfirm({ runs, live, signal }, run);
  }
  // What was confirmed elsewhere arrives here as an event, a moment later.
  await live.until(({ status }) => status !== "confirming");
}

/** Only a clear yes confirms, and a no loses nothing: the plan waits. */
async function askToConfirm(
  { runs, live, signal }: Pick<Followed, "runs" | "live" | "signal">,
  run: Run,
): Promise<void> {
  const settled = live.until(({ status }) => status !== "confirming");
  for (;;) {
    const typed = (await promptUntil("Carry out this plan? [y/n] ", signal, settled))?.trim().toLowerCase();
    if (typed === undefined) return;
    if (typed === "y" || typed === "yes") return runs.confirm(run.id, ChangedPlan.parse({}));
    if (typed === "n" || typed === "no") {
      const next = `tutti confirm ${run.id}, or tutti cancel ${run.id}`;
      throw new TuttiError("needs_confirmation", `the plan of ${run.id} waits: ${next}`, { details: { id: run.id } });
    }
  }
}

const asker = ({ taskId, kind }: InboxItem): string =>
  kind === "budget" ? "the budget" : (taskId ?? "the main session");

async function askQuestion({ runs, live, ring, output, signal }: Followed, run: Run, item: InboxItem): Promise<void> {
  ring("needs_person", item.id);
  if (!isTerminal(output)) {
    throw new TuttiError("needs_answer", `${asker(item)} of ${run.id} asks: ${item.question} — ${howToAnswer(item)}`, {
      details: item,
    });
  }
  output.line(`${asker(item)} asks: ${item.question}`);
  for (const [i, option] of (item.options ?? []).entries()) output.line(`  ${i}  ${option}`);
  const answered = live.until(({ inbox }) => inbox[item.id] === undefined);
  const typed = (await promptUntil("> ", signal, answered))?.trim();
  if (typed === undefined) return;
  const option = /^\d+$/.test(typed) ? Number(typed) : -1;
  if (item.options?.[option] !== undefined) await runs.answer(item.id, { option });
  else if (typed === "" || item.kind === "budget") {
    return output.line(`please type ${item.options ? `a number from 0 to ${item.options.length - 1}` : "an answer"}`);
  } else await runs.answer(item.id, { text: typed });
  await answered;
}
