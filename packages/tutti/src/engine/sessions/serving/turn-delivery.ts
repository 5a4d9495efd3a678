// `TurnDelivery` brings the turns of the log to the agent, with the messages and answers that arrive meanwhile.
import { reportUsedNames } from "../../merging/report-used-names.ts";
import { FAVOURED } from "../../merging/merge-work.ts";
import { checkResult } from "./check-result.ts";
import { commitOfWork } from "../judge-turn.ts";
import { renderPrompt } from "../prompt.ts";
import type { ServedSession } from "./served-session.ts";
import { isRepairing } from "../../../run/rules/collisions.ts";
import { isPlanningAgain } from "../../../run/team/cycle.ts";
import { dutyOf } from "../../../run/team/lead-duty.ts";
import { messageTo } from "../../../run/team/team.ts";
import type { Phase } from "../../../schema/status.ts";
import type { SessionState, Worker } from "../../../schema/worker.ts";
import type { Session } from "../../../session/session.ts";

type OpenTurn = NonNullable<SessionState["turn"]>;

export class TurnDelivery {
  readonly #served: ServedSession;
  #delivered = 0;
  /** The turn that the agent works on; null between turns. */
  openTurn: number | null = null;
  /** The turn that this engine delivered last, with its prompt and the number of messages when it was made. */
  lastPrompt: { turn: number; text: string; messages: number } | null = null;
  #answered = new Set<string>();
  /** Messages that were passed on during a turn, by their position in `run.messages`. */
  readonly #passedOn = new Set<number>();
  /** Whether the agent can receive messages during a turn. */
  canSteer = false;

  constructor(served: ServedSession) {
    this.#served = served;
  }

  isNew(turn: OpenTurn): boolean {
    return turn.number > this.#delivered;
  }

  async answer(session: Session, asks: SessionState["asks"]): Promise<void> {
    for (const [askId, text] of Object.entries(asks)) {
      if (text === null || this.#answered.has(askId)) continue;
      this.#answered.add(askId);
      this.#served.touch();
      await session.answer(askId, this.#served.options.openSecrets(text));
    }
  }

  async deliver(session: Session, turn: OpenTurn): Promise<void> {
    const served = this.#served;
    this.#delivered = turn.number;
    this.openTurn = turn.number;
    // Not awaited: a turn must be delivered before a pause can interrupt it. `prepareSession` awaits it for the first turn.
    served.startWatching().catch(() => {});
    if (session.wasDelivered(turn.number)) return;
    const owed = served.worker ? served.worker.owed : served.run.owed;
    const isNewTurn = turn.try === 1 && !owed?.interrupted;
    // Most turns are of workers that have delegated nothing; their files are in place.
    const needsFiles = isNewTurn && (served.worker === null || served.worker.duty != null);
    if (needsFiles && !(await this.#prepareFiles(turn.phase))) return;
    const { run, worker, workspace } = served;
    const prompt = renderPrompt(run, turn.phase, worker, owed, workspace.path, workspace.isSparse);
    this.lastPrompt = { turn: turn.number, text: prompt.text, messages: run.messages.length };
    // The run may have been paused during `#prepareFiles`; then the turn waits for the resume.
    if (served.state?.turn?.number === turn.number && served.state.pausedAt !== null) {
      this.#delivered = turn.number - 1;
      return;
    }
    const { mailbox, openSecrets } = served.options;
    if (served.hasMail) await mailbox!.put(served.run, served.worker!);
    const message = served.protocol === "tools" ? messageTo(served.run, served.sessionId) : null;
    await session.deliver({
      number: turn.number,
      phase: turn.phase,
      text: openSecrets(prompt.text),
      get variables() {
        return openSecrets(prompt.variables);
      },
      ...(message ? { message: openSecrets(message.body) } : {}),
      ...(served.worker ? { commit: commitOfWork(served.run, served.worker) } : {}),
    });
    if (served.state?.pausedAt != null) await session.interrupt(turn.number);
    else await this.steer(session, turn.number);
  }

  /** Puts the files that a new turn is about into the workspace. Returns false if the session ended meanwhile. */
  async #prepareFiles(phase: Phase): Promise<boolean> {
    const served = this.#served;
    const { run, worker, key, options, checksEnd } = served;
    const { workspaces } = options;
    if (worker) {
      await this.#takeReturned(worker);
      return true;
    }
    if (phase === "workerExecution") {
      // The lead of a team sees the work that it judges.
      const submitted = dutyOf(run)?.awaits.work;
      if (submitted) await workspaces.move(run.cwd, key, submitted.commit);
      return true;
    }
    // Aggregation and verification work on the accepted work of all tasks, so `move` resets the folder to the run's
    // `head`.
    if (phase === "aggregation" || phase === "verification" || isPlanningAgain(run))
      await workspaces.move(run.cwd, key, run.head!);
    if (phase === "aggregation" && !isRepairing(served.run)) {
      await reportUsedNames(options, checksEnd.signal);
      return served.isOpen;
    }
    return phase !== "verification" || checkResult(served, served.run.head!);
  }

  /** A session that delegated a task continues with the work of that task in its folder. */
  async #takeReturned({ duty, session }: Worker): Promise<void> {
    const { options, run, key, taskId } = this.#served;
    const { workspaces } = options;
    const { cwd, id, workers, template } = run;
    const commit = workers[duty!.taskId]?.awaits?.work?.commit;
    if (commit === undefined) return;
    const own = await workspaces.snapshot(cwd, key, session.start!, `Work of ${taskId} so far`);
    const favour = FAVOURED[template.phases.aggregation.conflictResolution];
    const message = `Add the result of ${duty!.taskId} to ${taskId} of ${id}`;
    const merge = await workspaces.combine(cwd, id, own.commit, [commit], message, favour);
    if (merge.ok) await workspaces.move(cwd, key, merge.commit);
  }

  /** Passes messages on that arrived during the turn. With `now`, an agent that cannot receive them is interrupted. */
  async steer(session: Session, turn: number): Promise<void> {
    if (!session.wasDelivered(turn)) return;
    const { run, sessionId, taskId: receiver, options } = this.#served;
    for (const [index, { taskId, text, told, now }] of run.messages.entries()) {
      if (told || taskId !== receiver || this.#passedOn.has(index)) continue;
      this.#passedOn.add(index);
      // The message arrived after the turn was decided, but before its prompt was made.
      if (this.lastPrompt?.turn === turn && index < this.lastPrompt.messages)
        await this.#served.report({ type: "steered", sessionId, message: index });
      else if (now && !this.canSteer) await session.interrupt(turn);
      // An agent that cannot receive it now may read it with a tool.
      else await session.steer?.(turn, String(index), options.openSecrets(text));
    }
  }
}
