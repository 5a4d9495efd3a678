// Back-off after a provider refuses (rate limit, overload, usage limit). All sessions of a run with the same provider
// share one wait in `run.refusals`. When it ends, a single turn probes the provider; the others continue once that turn
// got an answer.
import { addItem } from "../inbox/inbox.ts";
import { pause } from "../lifecycle.ts";
import { activeWorkers } from "../lookup.ts";
import { openWork } from "../fold/open-work.ts";
import { waitsForDecisions } from "../rules/collisions.ts";
import { providerOf } from "./provider-name.ts";
import { sha256 } from "../fold/sha256.ts";
import { PAUSABLE } from "../transitions.ts";
import type { Ending, FailureCause } from "../../schema/ending.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Refusal, Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { isRunOver } from "../../schema/status.ts";
import type { Owed, SessionState } from "../../schema/worker.ts";

interface Patience {
  firstMs: number;
  /** Maximum of `Refusal.count`. The next refusal fails the task or the run. */
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

export function hasRefusals({ refusals }: Run): boolean {
  for (const _ in refusals) return true;
  return false;
}

/** Returns the back-off after a refusal, or null if `ending` is no transient refusal or `patience.times` is exceeded. */
export function backOffAfter(run: Run, { agent, turn }: SessionState, ending: Ending, at: number): RunEvent | null {
  const { cause, detail, retryAfterMs = 0 } = ending;
  const patience = cause && PATIENCE[cause];
  const previous = refusalOf(run, agent);
  // Turns that were already in flight when the provider refused count as one refusal, so the back-off grows once.
  const together = previous !== null && turn !== null && turn.startedAt < previous.settledUntil;
  const count = (previous?.count ?? 0) + (together ? 0 : 1);
  if (!cause || !patience || count > patience.times) return null;
  const backOffMs = Math.min(LONGEST_WAIT_MS, patience.firstMs * 2 ** (count - 1));
  // `retryAfterMs` is only a minimum: a provider that asks for very short waits would exhaust `patience.times` at once.
  // Up to 20 % jitter keeps runs from returning at the same moment.
  const wait = Math.max(retryAfterMs, backOffMs) * (1 + spread(`${run.id} ${count}`) / 5);
  const until = Math.max(previous?.until ?? 0, Math.ceil(at + wait));
  return {
    type: "provider:refused",
    data: { id: run.id, provider: providerOf(agent, run.providers), cause, detail, until, count },
  };
}

/** The agent retries by itself, but until `retryAfterMs` has passed other sessions would be refused too. */
export function troubled(run: Run, agent: string, trouble: Trouble, at: number): RunEvent[] {
  const { cause, detail, retryAfterMs } = trouble;
  const patience = PATIENCE[cause];
  const previous = refusalOf(run, agent);
  if (!patience || cause === "api") return [];
  const until = Math.ceil(at + Math.min(LONGEST_WAIT_MS, retryAfterMs ?? patience.firstMs));
  if (previous !== null && previous.until >= until) return [];
  const about = {
    id: run.id,
    provider: providerOf(agent, run.providers),
    cause,
    detail,
    until,
    count: previous?.count ?? 0,
  };
  return [{ type: "provider:refused", data: { ...about, trying: true } }];
}

export interface Trouble {
  cause: FailureCause;
  detail: string;
  retryAfterMs: number | null;
}

/** A deterministic jitter between 0 and 1 (`sha256`), because the rules must be pure. */
const spread = (text: string): number => Number.parseInt(sha256(text).slice(0, 8), 16) / 0xffffffff;

/** Whether the session needs a turn; see `mayAsk` for its provider. */
export const isToBeAsked = (session: SessionState, owed: Owed | null): boolean =>
  session.state === "running" &&
  session.turn === null &&
  session.pausedAt === null &&
  owed !== null &&
  owed.waitsFor === null;

/** Whether the agent's provider allows a new turn or session now. */
export function mayAsk(run: Run, agent: string, at: number): boolean {
  const refusal = refusalOf(run, agent);
  return refusal === null || (at >= refusal.until && !isAsked(run, providerOf(agent, run.providers), refusal));
}

/**
 * Whether a turn is probing the provider now. A turn that started before the refusal is no probe, and neither is one that
 * waits for the user, because its provider has answered.
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

export function askedMain(run: Run): string | null {
  const { main, owed, status } = run;
  if (!main || main.state === "over" || !owed || owed.waitsFor !== null) return null;
  if (status === "paused" || isRunOver(status) || waitsForDecisions(run)) return null;
  return openWork(run).questions.some(({ sessionId }) => sessionId === main.sessionId) ? null : main.agent;
}

/** Whether no session works and at least one has `refusedSince` set. */
export function waitsForProvider(run: Run): boolean {
  if (run.status === "paused" || isRunOver(run.status)) return false;
  if (!hasRefusals(run)) return false;
  const { main } = run;
  const { active, unmerged } = openWork(run);
  const sessions = [...(main && main.state !== "over" ? [main] : []), ...active.map(({ session }) => session)];
  const isAtWork = sessions.some(({ turn, state }) => turn !== null || state === "spawning");
  if (isAtWork || unmerged.length > 0) return false;
  return sessions.some(({ refusedSince, pausedAt }) => refusedSince !== null && pausedAt === null);
}

/** Returns the earliest end of a wait after `since`, or null. */
export function refusedUntil(run: Run, since: number): number | null {
  if (!hasRefusals(run)) return null;
  const moments = Object.values(run.refusals).flatMap(({ until }) => (until > since ? [until] : []));
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Do not change these texts: open items of older logs hold them, and `answerLimit` compares with them. */
export const LIMIT_OPTIONS = [sentence("go on"), sentence("cancel the run")];
/** A usage limit without a `resetAt` is assumed to last `USUAL_LIMIT_MS`. */
const USUAL_LIMIT_MS = 3_600_000;
/** A limit that was reset this recently ended while the agent reported it. An older `resetAt` is stale, so unknown. */
const RECENT_RESET_MS = 300_000;

/** Pauses the run after a usage limit, until the limit resets (with `autoResume`) or the user answers. */
export function park(run: Run, agent: string, ending: Ending, itemId: string, at: number): RunEvent[] {
  if (!PAUSABLE.has(run.status)) return [];
  const provider = providerOf(agent, run.providers);
  const { autoResume, maxAutoResumes } = run.template.config;
  const known = ending.resetAt !== undefined && ending.resetAt > at - RECENT_RESET_MS ? ending.resetAt : null;
  const resumeAt = known ?? at + USUAL_LIMIT_MS;
  const byItself = autoResume && run.autoResumes < maxAutoResumes;
  const until =
    known === null
      ? sentence("the reset time is unknown")
      : sentence("until {time}", { time: new Date(known).toISOString() });
  const item = addItem(
    run,
    {
      id: itemId,
      kind: "limit",
      question: sentence("The usage limit of {provider} is reached ({until}): {detail}. Continue now?", {
        provider,
        until,
        detail: ending.detail,
      }),
      options: LIMIT_OPTIONS,
      evidence: { provider, resetAt: known, autoResume: byItself },
      ...(byItself ? { expiresAt: resumeAt, default: LIMIT_OPTIONS[0]! } : {}),
    },
    at,
  );
  return [
    item,
    ...pause(run, "usage_limit", sentence("the usage limit of {provider} is reached, {until}", { provider, until })),
  ];
}

const ADVICE: Partial<Record<FailureCause, string>> = {
  auth: sentence(
    "the provider rejects the login. Log in again or set its key (`tutti doctor` shows the current state), then resume the run",
  ),
  billing: sentence("the account cannot pay for this request. Check its plan or balance, then resume the run"),
};

/** Whether the provider refuses every request with this error `code` until the user acts on the `ADVICE`. */
export const needsUser = (code: string | null): boolean => code !== null && Object.hasOwn(ADVICE, code);

/** Pauses the run until the user has acted on `advice`. Without a failed task, an item asks whether to continue. */
export function holdForUser(run: Run, agent: string, advice: string, itemId: string, at: number): RunEvent[] {
  const evidence = { provider: providerOf(agent, run.providers), advice };
  const question = sentence("{advice}. Continue now?", { advice });
  const item = addItem(run, { id: itemId, kind: "limit", question, options: LIMIT_OPTIONS, evidence }, at);
  return [item, ...pause(run, "provider", advice)];
}

/** Returns what the user has to do before any session of this provider can continue, or null for causes without `ADVICE`. */
export function adviceOn(run: Run, agent: string, { cause, detail }: Ending): string | null {
  const advice = cause && ADVICE[cause];
  return advice ? `${providerOf(agent, run.providers)}: ${advice} (${detail})` : null;
}
