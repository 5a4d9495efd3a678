// Bugs that are planted on purpose, one at a time: a simulation is trusted only as far as it finds them. Those of the
// first list are switches in the simulated world; those of the second change the rules themselves (planted-rules.ts).

export const WORLD_BUGS = {
  "ack-before-durable": "the store acknowledges an append before it is written",
  "epoch-not-checked": "the store takes the late write of a process that was replaced",
  "torn-tail-kept": "the store keeps what a crash left of a write that was never committed",
  "failed-write-acknowledged": "the store says that it has stored what it has not",
  "events-out-of-order": "the store changes the order of two events",
  "log-read-short": "the store leaves out the last event when it is read",
  "snapshot-of-another-moment": "a folded state is taken for a later one",
  "turn-delivered-twice": "a turn reaches its agent a second time after a restart",
  "attempt-started-twice": "adopting a session starts another process for it",
  "foreign-words": "what another session says is taken for this one's answer",
  "answer-to-another": "a person's answer reaches another session than the one that asked",
  "nothing-reaped": "sessions that no longer count are not ended when a run is taken up or released",
  "reap-does-not-wait": "reaping says that it is done before the processes are gone",
  "session-not-ended": "ending a session does nothing",
  "snapshot-without-work": "a snapshot leaves out what the agent did",
  "merge-lost": "a merge is called done and is not in the branch",
  "merged-twice": "a merge that is repeated after a crash is made a second time",
  "conflict-overlooked": "colliding work is merged as if it did not collide",
  "workspace-gone-before-snapshot": "a workspace is removed with work that nothing else holds",
  "release-forgets-one": "the release of a run leaves a workspace behind",
  "hook-run-twice": "a hook runs twice for one cause",
  "told-twice": "listeners are told of an event twice",
  "told-out-of-order": "listeners are told of two events in the wrong order",
  "order-acknowledged-early": "a person's order is answered before anything is stored",
} as const;

const PROVIDER_BUGS = {
  "refusal-ignored-by-starts": "sessions are started while their provider refuses",
  "refusal-ignored-by-turns": "sessions are asked while their provider refuses",
  "all-ask-at-once": "when a wait for a provider is over, all sessions are asked at the same time",
  "open-turn-holds-all": "a turn that is open anyway keeps everybody from asking a provider again",
  "refused-together-counts": "many who are refused together use up the patience with their provider",
  "refusal-counts-as-a-try": "a turn that the provider refused is counted as a try",
  "refusal-fails-the-task": "a task fails at the first refusal of its provider",
  "wait-for-provider-counted": "the time in which a provider refuses counts against the task",
  "resumes-unasked": "a run that is parked for a limit goes on by itself although its template does not say so",
  "resumes-too-early": "a run goes on by itself before its limit ends",
  "resumes-for-ever": "a run goes on by itself more often than its template allows",
  "permission-by-default": "what nobody allowed is allowed when its time is over",
  "question-is-no-answer": "a turn that ends with a question counts as one without an answer",
} as const;

export const RULE_BUGS = {
  "dependencies-ignored": "tasks start before those they depend on are complete",
  "worker-cap-ignored": "a run starts more workers than its template allows",
  "slots-not-reserved": "two runs take the same free place on the server",
  "slot-not-released": "a place on the server is never given back",
  "scopes-ignored": "tasks that name the same files run at the same time",
  "spawn-delay-ignored": "workers start closer together than the template says",
  "pause-ignored": "a paused run goes on starting workers",
  "confirmed-without-person": "a plan is carried out that nobody confirmed",
  "retry-beyond-limit": "a task is retried more often than the template allows",
  "back-off-too-short": "an automatic retry does not wait",
  "retries-what-cannot-help": "what would fail the same way again is retried by itself",
  "budget-ignored": "turns and sessions begin although the budget is used up",
  "pause-time-counted": "the time in which a worker was paused counts against it",
  "timeout-too-early": "workers are ended before their time is up",
  "timeout-never": "a session that hangs is never ended",
  "default-answer-too-early": "a question is answered by its default while there is still time",
  "blocked-not-told": "what can never start is not blocked, so the run never ends",
  "retried-not-unblocked": "what depends on a retried task stays blocked",
  "census-off": "the result counts one task too many",
  "merge-never-wanted": "accepted work is never merged",
  "echo-counts": "an agent that repeats the sample of its prompt has answered",
  "other-task-counts": "an answer for another task completes this one",
  "no-work-counts": "a report of success without any work is accepted",
  "workers-open-after-the-end": "a run ends while its workers go on",
  "completed-twice": "a task completes twice",
  "attempt-begun-twice": "one attempt is begun twice",
  "usage-forgotten-in-memory": "the state in memory misses what the log holds",
  "reuse-ignores-files": "a result is taken over although the work began with other files",
  "reuse-of-part": "what was done only in part is taken over",
  "reuse-against-a-retry": "a task that a person wants done anew is not",
  "nothing-reused": "a fork does again what was done",
  "fold-forgets-merges": "a restart folds the log to another state",
  ...PROVIDER_BUGS,
} as const;

export type ProviderBug = keyof typeof PROVIDER_BUGS;
export type RuleBug = keyof typeof RULE_BUGS;
export type BugName = keyof typeof WORLD_BUGS | RuleBug;
export const BUGS = { ...WORLD_BUGS, ...RULE_BUGS } as const;

export const isBug = (name: string): name is BugName => Object.hasOwn(BUGS, name);
