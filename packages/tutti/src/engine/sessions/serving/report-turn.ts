// The last phase of a turn: judge it, and report the result.
import { checkResult } from "./check-result.ts";
import type { ServedSession } from "./served-session.ts";
import { judgeTurn } from "../judge-turn.ts";
import { MAX_CHARACTERS } from "../progress-reporter.ts";
import type { TurnRecord } from "../turn-record.ts";
import type { CutOff } from "../../../run/command.ts";
import { asTuttiError, isEnvironmentCode } from "../../../schema/error.ts";
import type { Ending } from "../../../schema/ending.ts";
import type { SessionState } from "../../../schema/worker.ts";

/** Limit of `protocol:ignored` events per turn. */
const MAX_IGNORED_EVENTS = 20;

interface EndedTurn {
  /** The session; its `turn` is the one that has ended. */
  state: SessionState;
  record: TurnRecord;
  ending: Ending;
  /** Null if an earlier engine delivered the turn. */
  prompt: string | null;
  /** Null if the turn was not cut off by a suspend. */
  cutOff: (() => CutOff) | null;
}

export async function reportTurn(served: ServedSession, { state, cutOff, ...turn }: EndedTurn): Promise<void> {
  const { run, worker, sessionId, taskId, key, options } = served;
  const { phase, number } = state.turn!;
  let hasAnswer = false;
  const judging = judgeTurn({
    ...turn,
    run,
    worker,
    state,
    key,
    workspaces: options.workspaces,
    cwd: served.workspace.path,
    itemId: served.newItemId(),
    mail: served.hasMail ? await options.mailbox!.read(run, worker!) : null,
    history: phase === "taskPlanning" ? options.history(served.run) : null,
    onAnswer: () => (hasAnswer = true),
  });
  const judged = await judging.catch((error: unknown) => {
    // The answer of a finished turn is judged again after the run was resumed.
    if (hasAnswer) throw error;
    return diedOf(served, error, turn.ending);
  });
  if (judged === null) return;
  for (const ignored of judged.ignored.slice(0, MAX_IGNORED_EVENTS)) {
    const cut = { phase: ignored.phase.slice(0, 100), reason: ignored.reason.slice(0, MAX_CHARACTERS) };
    const data = { id: options.writer.id, sessionId, taskId, ...cut };
    await served.report({ type: "record", event: { type: "protocol:ignored", data } });
  }
  await served.stopWatching();
  const { answer, work } = judged.over;
  // If the main session changed the result while it verified it, the commands have not seen these files.
  const isChanged = answer?.phase === "verification" && work?.head != null && work.files.length > 0;
  if (isChanged && !(await checkResult(served, work.head!))) return;
  if (judged.moved) await served.report({ type: "refMoved", moved: judged.moved });
  const over = cutOff ? { ...judged.over, cutOff: cutOff() } : judged.over;
  await served.report({ type: "turnOver", sessionId, turn: number, over });
}

/**
 * Pauses the run and gives up the attempt without counting it if the agent died and the `error` is a condition of the
 * machine, such as a full disk: the agent probably died of it. Throws all other errors, also if the agent lives: then the
 * same turn can be judged again.
 */
async function diedOf(served: ServedSession, error: unknown, { kind, detail: reason }: Ending): Promise<null> {
  const fault = asTuttiError(error);
  if (kind !== "exited" || !isEnvironmentCode(fault.code)) throw error;
  served.options.onEnvironment(fault);
  await served.report({ type: "lost", sessionId: served.sessionId, reason, counted: false });
  return null;
}
