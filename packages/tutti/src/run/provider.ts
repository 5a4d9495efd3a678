// Providers: who stands behind an agent, and what follows when it refuses for now. All sessions of a run that have the
// same provider share one wait: until its time is over none is asked anything, then one of them is, and only when that
// one got an answer do the others go on.
import { addItem } from "./inbox.ts";
import { pause } from "./lifecycle.ts";
import { activeWorkers } from "./lookup.ts";
import { openWork } from "./open-work.ts";
import { providerOf } from "./provider-name.ts";
import { sha256 } from "./sha256.ts";
import { PAUSABLE } from "./transitions.ts";
import type { Ending, FailureCause } from "../schema/ending.ts";
import type { RunEvent } from "../schema/event.ts";
import type { Refusal, Run } from "../schema/run.ts";
import { isRunOver } from "../schema/status.ts";
import type { Owed, SessionState } from "../schema/worker.ts";

interface Patience {
  firstMs: number;
  /** So often in a row; then the task, or the run, has failed. */
  times: number;
}

const PATIENCE: Partial<Record<FailureCause, Patience>> = {
  overloaded: { firstMs: 15_000, times: 8 },
  rate_limit: { firstMs: 15_000, times: 8 },
  api: { firstMs: 5000, times: 4 },
};
const LONGEST_WAIT_MS = 600_000;

export const refusalOf = (run: Run, agent: string): Refusal | null => {
  const provider = providerOf(agent, run.providers);
  return Object.hasOwn(run.refusals, provider) ? run.refusals[provider]! : null;
};

/** The wait that a refusal brings, or null if this is none that passes, or there have been too many. */
export function refused(run: Run, { agent, turn }: SessionState, ending: Ending, at: number): RunEvent | null {
  const { cause, detail, retryAfterMs = 0 } = ending;
  const patience = cause && PATIENCE[cause];
  const before = refusalOf(run, agent);
  // Whoever had been asked before that one was heard did not ask in spite of it: many who are refused together wait once.
  const together = before !== null && turn !== null && turn.startedAt < before.settledUntil;
  const count = (before?.count ?? 0) + (together ? 0 : 1);
  if (!cause || !patience || count > patience.times) return null;
  const own = Math.min(LONGEST_WAIT_MS, patience.firstMs * 2 ** (count - 1));
  // The time that the provider names is the least: one that names none to speak of must not use up our patience at once.
  // And many who come back at the same moment are refused again.
  const wait = Math.max(retryAfterMs, own) * (1 + spread(`${run.id} ${count}`) / 5);
  const until = Math.max(before?.until ?? 0, Math.ceil(at + wait));
  return {
    type: "provider:refused",
    data: { id: run.id, provider: providerOf(agent, run.providers), cause, detail, until, count },
  };
}

/** The agent goes on trying by itself; whoever starts now would only be refused too. */
export function troubled(run: Run, agent: string, trouble: Trouble, at: number): RunEvent[] {
  const { cause, detail, retryAfterMs } = trouble;
  const patience = PATIENCE[cause];
  const before = refusalOf(run, agent);
  if (!patience || cause === "api") return [];
  const until = Math.ceil(at + Math.min(LONGEST_WAIT_MS, retryAfterMs ?? patience.firstMs));
  if (before !== null && before.until >= until) return [];
  const about = {
    id: run.id,
    provider: providerOf(agent, run.providers),
    cause,
    detail,
    until,
    count: before?.count ?? 0,
  };
  return [{ type: "provider:refused", data: { ...about, trying: true } }];
}

/** What an agent tells of its provider while it goes on. */
export interface Trouble {
  cause: FailureCause;
  detail: string;
  retryAfterMs: number | null;
}

/** From 0 to 1, the same for the same text. */
const spread = (text: string): number => Number.parseInt(sha256(text).slice(0, 8), 16) / 0xffffffff;

/** Whether the session is to be asked something as soon as its provider lets it be. */
export const isToBeAsked = (session: SessionState, owed: Owed | null): boolean =>
  session.state === "running" &&
  session.turn === null &&
  session.pausedAt === null &&
  owed !== null &&
  owed.waitsFor === null;

/** Whether a session of this agent may be asked something now, or started to be asked. */
export function mayAsk(run: Run, agent: string, at: number): boolean {
  const refusal = refusalOf(run, agent);
  return refusal === null || (at >= refusal.until && !isAsked(run, providerOf(agent, run.providers), refusal));
}

/**
 * Whether somebody finds out at this moment if the provider still refuses. A turn that was open before it refused tells
 * nothing about that, however long it goes on; and one that waits for a person has got its answer.
 */
function isAsked(run: Run, provider: string, { settledUntil }: Refusal): boolean {
  const sessions = [run.main, ...activeWorkers(run).map(({ session }) => session)];
  return sessions.some((session) => {
    if (
      !session?.turn ||
      session.turn.startedAt < settledUntil ||
      providerOf(session.agent, run.providers) !== provider
    )
      return false;
    return !openWork(run).questions.some(({ sessionId }) => sessionId === session.sessionId);
  });
}

/** The agent of a main session that is being asked something, or will be as soon as it may be; null if there is none. */
export function askedMain(run: Run): string | null {
  const { main, owed, status } = run;
  if (!main || main.state === "over" || !owed || owed.waitsFor !== null) return null;
  if (status === "paused" || isRunOver(status)) return null;
  return openWork(run).questions.some(({ sessionId }) => sessionId === main.sessionId) ? null : main.agent;
}

/** Whether nobody is at work, and somebody is not because of a provider that refuses. */
export function waitsForProvider(run: Run): boolean {
  if (run.status === "paused" || isRunOver(run.status)) return false;
  const { main } = run;
  if (Object.keys(run.refusals).length === 0) return false;
  const { active, unmerged } = openWork(run);
  const sessions = [...(main && main.state !== "over" ? [main] : []), ...active.map(({ session }) => session)];
  const isAtWork = sessions.some(({ turn, state }) => turn !== null || state === "spawning");
  if (isAtWork || unmerged.length > 0) return false;
  return sessions.some(({ refusedSince, pausedAt }) => refusedSince !== null && pausedAt === null);
}

/** When the next wait is over. */
export function refusedUntil(run: Run, since: number): number | null {
  const moments = Object.values(run.refusals).flatMap(({ until }) => (until > since ? [until] : []));
  return moments.length === 0 ? null : Math.min(...moments);
}

export const LIMIT_OPTIONS = ["go on", "cancel the run"];
/** When nobody says when the limit ends. */
const USUAL_LIMIT_MS = 3_600_000;

/** What the account may use is used up: the run rests until that changes, or until a person says so. */
export function park(run: Run, agent: string, ending: Ending, itemId: string, at: number): RunEvent[] {
  if (!PAUSABLE.has(run.status)) return [];
  const provider = providerOf(agent, run.providers);
  const { autoResume, maxAutoResumes } = run.template.config;
  const known = ending.resetAt !== undefined && ending.resetAt > at ? ending.resetAt : null;
  const resumeAt = known ?? at + USUAL_LIMIT_MS;
  const byItself = autoResume && run.autoResumes < maxAutoResumes;
  const until = known === null ? "it was not said until when" : `until ${new Date(known).toISOString()}`;
  const item = addItem(
    run,
    {
      id: itemId,
      kind: "limit",
      question: `${provider} has reached its usage limit (${until}): ${ending.detail}. Go on now?`,
      options: LIMIT_OPTIONS,
      evidence: { provider, resetAt: known, autoResume: byItself },
      ...(byItself ? { expiresAt: resumeAt, default: LIMIT_OPTIONS[0]! } : {}),
    },
    at,
  );
  return [item, ...pause(run, "usage_limit", `${provider} has reached its usage limit, ${until}`)];
}

const ADVICE: Partial<Record<FailureCause, string>> = {
  auth: "the provider does not accept the login. Log in again or set its key (`tutti doctor` shows what is found), then retry the task",
  billing: "the account cannot pay for this. Look at its plan or its balance, then retry the task",
};

/** What a person has to do before anybody of this provider can go on; null if that is not the reason. */
export function adviceOn(run: Run, agent: string, { cause, detail }: Ending): string | null {
  const advice = cause && ADVICE[cause];
  return advice ? `${providerOf(agent, run.providers)}: ${advice} (${detail})` : null;
}
