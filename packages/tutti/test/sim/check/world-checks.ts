// Compares the processes on the machine with the log.
import { capOf, type Checked } from "./log-checks.ts";
import type { Process } from "../machine.ts";
import { workerOf } from "../../../src/run/lookup.ts";
import type { Turn } from "../../../src/session/session.ts";

export function checkWorld({ stage, machine, ledgers, serverCap }: Checked): void {
  const perRun = new Map<string, number>();
  const seen = new Set<string>();
  for (const { spec } of machine.living()) {
    const ledger = ledgers.get(spec.runId);
    const { sessionId } = spec;
    stage.require(!seen.has(sessionId), "I2", () => `${sessionId} runs twice`);
    seen.add(sessionId);
    stage.require(!machine.warm.has(sessionId), "I2", () => `${sessionId} runs, and another agent waits for it`);
    stage.require(ledger?.sessions.has(sessionId) === true, "I3", () => `${sessionId} runs and is not in the log`);
    // A session may outlive its attempt for a moment; only those of an open attempt use a slot.
    const attempt = spec.taskId === null ? undefined : ledger?.active.get(spec.taskId);
    if (attempt?.sessionId === sessionId && !attempt.hasDelegated)
      perRun.set(spec.runId, (perRun.get(spec.runId) ?? 0) + 1);
  }
  let all = 0;
  for (const [runId, count] of perRun) {
    all += count;
    const cap = capOf(ledgers.get(runId)!.run!);
    stage.require(count <= cap, "I2", () => `${count} workers of ${runId} are alive, of ${cap}`);
  }
  stage.require(all <= serverCap, "I2", () => `${all} workers are alive on a server for ${serverCap}`);
}

/** The workspace of a worker is at the commit that the log names when it gets its first turn. */
export function checkStart({ stage, repository, ledgers }: Checked, { spec }: Process, turn: Turn): void {
  const run = ledgers.get(spec.runId)?.run;
  const session = run && spec.taskId !== null ? workerOf(run, spec.taskId)?.session : undefined;
  if (session?.sessionId !== spec.sessionId || turn.number !== 1) return;
  const folder = repository.folders.get(spec.cwd);
  const isThere = folder?.start === session.start && !folder?.isAhead;
  stage.require(isThere, "I14", () => `${spec.sessionId} starts at ${folder?.start} instead of ${session.start}`);
}

/** How long an agent may continue after a pause without an interrupt, while the engine runs. */
const UNHEARD_MS = 20_000;

export function checkPausesAreHeard({ stage, machine, ledgers }: Checked, engineSince: number): void {
  const oddTimes = stage.clock.wasSet || stage.counts.has("sleeps of the machine");
  if (oddTimes || stage.loop.now - engineSince < UNHEARD_MS) return;
  for (const { spec, open, interrupted } of machine.living()) {
    const run = ledgers.get(spec.runId)?.run;
    if (!run || open === null || interrupted.has(open.number)) continue;
    const session = spec.taskId === null ? run.main : workerOf(run, spec.taskId)?.session;
    if (session?.sessionId !== spec.sessionId || session.state === "over" || session.pausedAt === null) continue;
    const since = stage.loop.now - stage.clock.virtual(session.pausedAt);
    stage.require(since < UNHEARD_MS, "pause", () => `${spec.sessionId} goes on ${since} ms after it was paused`);
  }
}

export function checkNothingLeft({ stage, machine, repository }: Checked): void {
  const [process] = machine.living();
  stage.require(!process, "I13", () => `${process?.spec.sessionId} is still alive`);
  const [agent] = machine.warm.values();
  stage.require(!agent, "I13", () => `${agent?.spec.sessionId} still waits`);
  const [folder] = repository.folders.values();
  stage.require(!folder, "I13", () => `${folder?.path} still exists`);
}
