// `watch` follows a run in this terminal until it ends, needs an answer that this command cannot get, or is
// interrupted.
import { askItem, asker } from "./ask-item.ts";
import { KEY_HINT, liveKeys } from "./live-keys.ts";
import { reviewPlan } from "./review-plan.ts";
import { openBell } from "../terminal/bell.ts";
import { drawBoard } from "../terminal/board.ts";
import {
  describeOutcome,
  describePause,
  describePlan,
  describeWaitingPlan,
  eventLine,
  howToAnswer,
  itemLine,
} from "../terminal/describe.ts";
import { INTERRUPTED, whenAborted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { nextOf } from "../terminal/run-lines.ts";
import { isTerminal } from "../terminal/ask.ts";
import { openDialogue, openPlainDialogue, type UserDialogue } from "../terminal/dialogue.ts";
import type { LiveRun, RunAccess } from "../access/runs.ts";
import { Screen } from "../terminal/screen.ts";
import { plural } from "../../run/describe-event.ts";
import { isOfMain } from "../../run/inbox/inbox.ts";
import { answersItself, waitsForUser } from "../../run/inbox/waits-for-user.ts";
import { ERRORS, TuttiError } from "../../schema/error.ts";
import type { StoredEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";

const AFTER_INTERRUPT: Record<RunAccess["home"], string> = {
  server: "The run continues on the server. Follow it with",
  "other process": "The run continues until the process that works on it ends. Follow it with",
  here: "Stopped. Continue with",
};

export interface WatchRunOptions {
  runs: RunAccess;
  output: Output;
  id: string;
  signal: AbortSignal;
  yes: boolean;
  allowDegraded: boolean;
  start: boolean;
  /** Printed on an interrupt instead of the text of `AFTER_INTERRUPT`. */
  whenStopped?: string;
}

interface FollowContext extends WatchRunOptions {
  live: LiveRun;
  ring: ReturnType<typeof openBell>;
  board: Board;
  /** Items with a question that the user closed. The key `a` asks them again. */
  putAway: Set<string>;
}

export async function watch(options: WatchRunOptions): Promise<number> {
  const { runs, output, id, signal } = options;
  const ring = openBell(output);
  const live = await runs.watch(id);
  if (options.start) for (const event of live.past) show(output, event, live.run);
  const board = openBoard(options, live);
  const unsubscribe = live.subscribe((event, run) => {
    if (!board.hasKeys || !showForKeys(output, event)) show(output, event, run);
    board.onEvent(event);
  });
  try {
    if (options.yes && !live.run.template.config.autoSpawn) await runs.order(id, "confirmAhead");
    if (options.start) await runs.order(id, "start");
    const end = await Promise.race([
      attend({ ...options, live, ring, board, putAway: new Set() }),
      whenAborted(signal),
    ]);
    if (end !== undefined) return end;
    board.close(false);
    const home = runs.isFollowed(id) ? "other process" : runs.home;
    const interrupted = home === "here" && options.whenStopped === undefined;
    output.value({ id, status: live.run.status, ...nextOf({ id, interrupted }) });
    output.line(options.whenStopped ?? `${AFTER_INTERRUPT[home]}: tutti attach ${id}`);
    return INTERRUPTED;
  } finally {
    board.close(false);
    unsubscribe();
    live.close();
  }
}

interface Board {
  /** Null without a terminal (`isTerminal`). */
  dialogue: UserDialogue | null;
  hasKeys: boolean;
  /** During a review of the plan the run is not drawn, and `liveKeys` get no keys. */
  reviewing(isReviewing: boolean): void;
  onEvent(event: StoredEvent): void;
  close(keep: boolean): void;
}

/**
 * `drawBoard` draws the run below the printed lines, and `dialogue` the question to the user below it. With `--quiet`
 * only questions are drawn. Without a capable terminal nothing is drawn.
 */
function openBoard({ runs, output, signal }: WatchRunOptions, live: LiveRun): Board {
  const { stdout } = process;
  if (!isTerminal(output) || process.env["TERM"] === "dumb") {
    const dialogue = isTerminal(output) ? openPlainDialogue(signal) : null;
    return { dialogue, hasKeys: false, reviewing: () => {}, onEvent: () => {}, close: () => {} };
  }
  let doing: string | null = null;
  let isReviewing = false;
  const dialogue = openDialogue({
    redraw: () => output.screen?.redraw(),
    hide: () => output.screen?.hide(),
    show: () => output.screen?.show(),
    keep: (line) => output.result(line),
  });
  const screen = new Screen(stdout, ({ columns, rows }) => {
    const footer = dialogue.draw(columns, output.paint);
    if (output.quiet || isReviewing) return footer;
    const size = { columns, rows: rows - footer.length };
    return [...drawBoard(live.run, doing, Date.now(), size, output.paint), ...footer];
  });
  output.screen = screen;
  const onKey = liveKeys({ runs, live, output, dialogue });
  const listen = () => dialogue.listen(isReviewing ? null : onKey, output.quiet ? "" : KEY_HINT);
  listen();
  return {
    dialogue,
    hasKeys: true,
    reviewing(now) {
      isReviewing = now;
      listen();
    },
    onEvent(event) {
      if (event.type === "orchestrator:progress") doing = event.data.currentAction;
      if (event.type === "turn:started" && event.data.taskId === null) doing = null;
      screen.changed();
    },
    close(keep) {
      dialogue.close();
      screen.close({ keep });
      output.screen = null;
    },
  };
}

/** `attend` prints the plan, the user's own answers and the outcome itself. */
const SHOWN_BY_COMMAND: ReadonlySet<StoredEvent["type"]> = new Set([
  "orchestrator:tasksReady",
  "orchestrator:confirmed",
  "orchestrator:completed",
  "orchestrator:cancelled",
  "inbox:answered",
]);

function show(output: Output, event: StoredEvent, run: Run): void {
  const { seq, run: runId, runSeq, type, data, timestamp } = event;
  output.value({ seq, run: runId, runSeq, type, data, timestamp: new Date(timestamp).toISOString() });
  if (event.type === "orchestrator:started") for (const warning of event.data.warnings) output.warn(warning);
  // The board, if `output.screen` is set, already shows the workers and their progress.
  if (output.screen !== null && (event.type === "worker:progress" || event.type === "worker:started")) return;
  if (event.type === "orchestrator:confirmed" && run.template.config.autoSpawn) showPlan(output, run);
  if (SHOWN_BY_COMMAND.has(type)) return;
  const line = eventLine(event, run);
  if (line !== null) output.line(line);
}

/** Handles plans with `settlePlan` and questions with `askQuestion`, one by one, until the run ends. */
async function attend(options: FollowContext): Promise<number> {
  const { runs, live, ring, board, output, id, allowDegraded } = options;
  const wasOver = isRunOver(live.run.status);
  for (;;) {
    const run = await live.until(
      (each) =>
        isRunOver(each.status) ||
        each.status === "confirming" ||
        needsResume(each, options) ||
        questionNow(each, options) !== null,
    );
    if (isRunOver(run.status)) break;
    if (needsResume(run, options)) {
      ring("needs_person", run.id);
      throw new TuttiError("wrong_state", describePause(run));
    }
    const question = questionNow(run, options);
    if (question) await askQuestion(options, run, question);
    else if (!(await settlePlan(options, run))) return ERRORS.needs_confirmation.exit;
  }
  await live.settled();
  board.close(true);
  const outcome = await runs.result(id);
  if (!wasOver) ring(outcome.outcome === "failed" ? "failed" : "ended", id);
  output.value(outcome);
  for (const line of describeOutcome(outcome)) output.result(line);
  for (const item of Object.values(live.run.inbox)) output.result(itemLine(item));
  if (outcome.outcome === "success" || (outcome.outcome === "degraded" && allowDegraded)) return 0;
  return live.run.errors.some(({ code }) => code === "agent_not_startable") ? ERRORS.agent_not_startable.exit : 1;
}

/** `settlePlan` handles plans, and the `failure` of a task blocks nothing. */
const BLOCKING_KINDS: ReadonlySet<InboxItem["kind"]> = new Set([
  "question",
  "blocker",
  "permission",
  "decision",
  "budget",
]);

/**
 * A paused run may need `tutti resume`, for which this command ends. Some pauses end with the answer to an item, some
 * by themselves (`answersItself`). On a terminal, a key ends a pause by the user.
 */
function needsResume(run: Run, { output }: Pick<FollowContext, "output">): boolean {
  if (run.status !== "paused") return false;
  if (run.pausedFrom?.reason === "person" && isTerminal(output)) return false;
  return !Object.values(run.inbox).some(
    (item) => item.kind === "decision" || item.kind === "budget" || isOfMain(item) || answersItself(run, item),
  );
}

/**
 * With a terminal a question is asked at once; without one only if the run `waitsForUser` and nothing else can
 * proceed.
 */
function questionNow(run: Run, { output, putAway }: Pick<FollowContext, "output" | "putAway">): InboxItem | null {
  const [first] = Object.values(run.inbox).filter((item) => isBlocking(item) && !putAway.has(item.id));
  return first && (isTerminal(output) || waitsForUser(run, Date.now())) ? first : null;
}

const isBlocking = (item: InboxItem): boolean => BLOCKING_KINDS.has(item.kind) || isOfMain(item);

/** `askQuestion` prints the items that block, and the failure of a task has its own line already. */
function showForKeys(output: Output, event: StoredEvent): boolean {
  if (event.type !== "inbox:added") return false;
  const { kind, taskId } = event.data.item;
  if (isBlocking(event.data.item)) return true;
  if (kind === "failure") output.line(`Press r to retry ${taskId}, or a to decide.`);
  return kind === "failure";
}

/** Returns false if the user leaves the plan waiting. */
async function settlePlan(options: FollowContext, run: Run): Promise<boolean> {
  const { runs, live, ring, board, output, yes, signal } = options;
  if (!yes || run.planErrors.length > 0) ring("needs_person", `plan ${run.runSeq}`);
  if (!yes && board.dialogue) {
    board.reviewing(true);
    const isSettled = await reviewPlan({ runs, live, output, signal, dialogue: board.dialogue }, run);
    if (!isSettled) {
      board.close(false);
      for (const line of describeWaitingPlan(run.id)) output.result(line);
      return false;
    }
    board.reviewing(false);
  } else {
    showPlan(output, run);
    throw unconfirmed(run);
  }
  // With a server, the event of the confirmation arrives after `runs.order` resolves.
  await live.until(({ status }) => status !== "confirming");
  return true;
}

function showPlan(output: Output, run: Run): void {
  output.line(`plan of ${plural(run.tasks.length, "task")}:`);
  for (const line of describePlan(run)) output.line(line);
}

function unconfirmed({ id, planErrors }: Run): TuttiError {
  if (planErrors.length > 0) {
    const fix = `Correct it with "tutti confirm ${id} --edit FILE".`;
    const message = `The plan of run "${id}" is not valid: ${planErrors.join("; ")}. ${fix}`;
    return new TuttiError("invalid_plan", message, { details: planErrors });
  }
  const message = `The plan of run "${id}" is not confirmed. Confirm it with "tutti confirm ${id}".`;
  return new TuttiError("needs_confirmation", message, { details: { id } });
}

async function askQuestion(options: FollowContext, run: Run, item: InboxItem): Promise<void> {
  const { ring, board, putAway } = options;
  ring("needs_person", item.id);
  if (!board.dialogue) {
    const question = `${asker(item)} asks: ${item.question} (${howToAnswer(item)})`;
    throw new TuttiError("needs_answer", `Run "${run.id}" needs an answer: ${question}`, { details: item });
  }
  const isAnswered = await askItem({ ...options, dialogue: board.dialogue }, item);
  if (isAnswered) return;
  putAway.add(item.id);
  options.output.result("Press a to answer it later.");
}
