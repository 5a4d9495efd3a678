// Bugs that are planted one at a time, to check that the simulation finds them. `WORLD_BUGS` are switches in the
// simulated world; `RULE_BUGS` change the rules themselves (planted-rules.ts).

const WORLD_BUGS = {
  "ack-before-durable": "the store acknowledges an append before it is written",
  "epoch-not-checked": "the store accepts the late write of a process that was replaced",
  "torn-tail-kept": "the store keeps the torn part of a write that was never committed",
  "failed-write-acknowledged": "the store acknowledges a write that it has not stored",
  "events-out-of-order": "the store changes the order of two events",
  "log-read-short": "the store omits the last event when it is read",
  "snapshot-of-another-moment": "a snapshot is used as the state of a later event",
  "turn-delivered-twice": "a turn reaches its agent a second time after a restart",
  "attempt-started-twice": "adopting a session starts another process for it",
  "foreign-words": "the output of another session is used as this one's answer",
  "answer-to-another": "the user's answer reaches another session than the one that asked",
  "nothing-reaped": "obsolete sessions are not ended when a run is adopted or released",
  "reap-does-not-wait": "reaping resolves before the processes have ended",
  "session-not-ended": "ending a session does nothing",
  "snapshot-without-work": "a snapshot omits the agent's work",
  "merge-lost": "a merge is reported as done but is not in the branch",
  "merged-twice": "a merge that is repeated after a crash is committed a second time",
  "conflict-overlooked": "conflicting work is merged without a conflict",
  "workspace-gone-before-snapshot": "a workspace is removed with work that exists nowhere else",
  "release-forgets-one": "the release of a run leaves a workspace behind",
  "preparation-left": "the release of a run leaves a workspace behind that was prepared ahead and never used",
  "preparation-not-moved": "an attempt starts in a workspace that was prepared ahead at another commit",
  "warm-session-left": "the end of a run leaves an agent behind that waits for a session",
  "warm-session-stale": "a session starts with an agent that has read other instructions than its workspace has",
  "hook-run-twice": "a hook runs twice for one cause",
  "told-twice": "subscribers receive an event twice",
  "told-out-of-order": "subscribers receive two events in the wrong order",
  "order-acknowledged-early": "a command is acknowledged before anything is stored",
} as const;

const PROVIDER_BUGS = {
  "refusal-ignored-by-starts": "sessions are started while their provider refuses requests",
  "refusal-ignored-by-turns": "turns start while their provider refuses requests",
  "all-ask-at-once": "after the wait for a provider, all sessions start a turn at the same time",
  "open-turn-holds-all": "a turn that was open before blocks all further requests to a provider",
  "refused-together-counts": "several turns that are refused together count as several refusals",
  "refusal-counts-as-a-try": "a turn that the provider refused is counted as a try",
  "refusal-fails-the-task": "a task fails at the first refusal of its provider",
  "wait-for-provider-counted": "the time during which a provider refuses requests counts against the task",
  "resumes-unasked": "a run parked for a limit resumes automatically although its template forbids it",
  "resumes-too-early": "a run resumes automatically before its limit ends",
  "resumes-for-ever": "a run resumes automatically more often than its template allows",
  "permission-by-default": "a permission request is allowed when it expires without an answer",
  "question-is-no-answer": "a turn that ends with a question counts as a turn without an answer",
} as const;

const TEAM_BUGS = {
  "message-not-delivered": "a turn of a role starts without the message to it",
  "message-delivered-twice": "every turn of a role delivers its message again",
  "message-lost-in-prompt": "the prompt of a role does not contain its message",
  "return-delivered-twice": "the report of a delegated task reaches its parent twice",
  "ending-never-returns": "a delegated task that failed does not return to its parent",
  "gate-ignored": "a deployment starts while the gate is closed",
  "every-review-approves": "a review that refuses opens the gate",
  "rework-without-end": "work is sent back more often than the template allows",
  "plans-only-once": "a continuous run ends after its first tasks",
  "mail-of-outside-unnoticed": "the report of a role outside is never read",
  "breaker-ignored": "a continuous run goes on although its tasks keep failing in the same way",
} as const;

export const RULE_BUGS = {
  "dependencies-ignored": "tasks start before those they depend on are complete",
  "worker-cap-ignored": "a run starts more workers than its template allows",
  "slots-not-reserved": "two runs use the same free slot of the server",
  "slot-not-released": "a slot of the server is never released",
  "scopes-ignored": "tasks that name the same files run at the same time",
  "spawn-delay-ignored": "workers start closer together than the template allows",
  "pause-ignored": "a paused run still starts workers",
  "confirmed-without-person": "a plan is executed without confirmation",
  "retry-beyond-limit": "a task is retried more often than the template allows",
  "back-off-too-short": "an automatic retry does not wait",
  "retries-what-cannot-help": "a failure that would repeat is retried automatically",
  "budget-ignored": "turns and sessions begin although the budget is used up",
  "pause-time-counted": "the time during which a worker is paused counts against its timeout",
  "timeout-too-early": "workers are ended before their time is up",
  "timeout-never": "a session that hangs is never ended",
  "default-answer-too-early": "a question is answered by its default while there is still time",
  "blocked-not-told": "a task that can never start is not blocked, so the run never ends",
  "retried-not-unblocked": "a task that depends on a retried task stays blocked",
  "main-loss-ends-the-run": "the run ends when its main session is lost too often",
  "open-sub-sessions-ignored": "a run in natural mode ends before its sub-sessions",
  "census-off": "the result counts one task too many",
  "merge-never-wanted": "accepted work is never merged",
  "echo-counts": "an agent that repeats the sample of its prompt has answered",
  "other-task-counts": "an answer for another task completes this one",
  "no-work-counts": "a report of success without any work is accepted",
  "workers-open-after-the-end": "a run ends while its workers still run",
  "completed-twice": "a task completes twice",
  "attempt-begun-twice": "one attempt is begun twice",
  "usage-forgotten-in-memory": "the state in memory lacks data that is in the log",
  "reuse-ignores-files": "a result is reused although the work began with other files",
  "reuse-of-part": "a partial result is reused",
  "reuse-against-a-retry": "a task that the user retries is reused instead",
  "nothing-reused": "a fork repeats completed work",
  "conflict-built-on": "a task starts while a conflict between its dependencies is open",
  "branch-moves-in-repair": "work is merged while the main session settles a conflict",
  "fold-forgets-merges": "a restart folds the log to another state",
  ...PROVIDER_BUGS,
  ...TEAM_BUGS,
} as const;

export type TeamBug = keyof typeof TEAM_BUGS;
export type ProviderBug = keyof typeof PROVIDER_BUGS;
export type RuleBug = keyof typeof RULE_BUGS;
export type BugName = keyof typeof WORLD_BUGS | RuleBug;
export const BUGS = { ...WORLD_BUGS, ...RULE_BUGS } as const;

export const isBug = (name: string): name is BugName => Object.hasOwn(BUGS, name);
