// The test that shows the effect of each setting: its file below test/, and the beginning of its title. A star stands
// for all settings below.

type Shown = readonly [file: string, title: string];
const plan = (title: string): Shown => ["run/plan.test.ts", title];
const retry = (title: string): Shown => ["run/retry.test.ts", title];
const after = (title: string): Shown => ["run/aggregation.test.ts", title];
const order = (title: string): Shown => ["run/schedule.test.ts", title];
const steering = (title: string): Shown => ["engine/steering.test.ts", title];
const hooks = (title: string): Shown => ["engine/hooks.test.ts", title];
const prompt = (title: string): Shown => ["engine/prompt.test.ts", title];
const budget = (title: string): Shown => ["run/budget.test.ts", title];

const LATE = "ends a worker that times out, with its whole process tree";
const ROLES = "gets a session of its own, and the one before is done";
const TOOLS = "names the template's tools and sub-agent type";
const PHASE_TIME = "gives a phase that takes too long one more session";

export const SHOWN: Record<string, Shown> = {
  "config.agent": ["engine/settings.test.ts", "is the template's unless the request names one"],
  "config.maxWorkers": order("is bounded by the template's maxWorkers"),
  "config.workerTimeout": ["engine/engine.test.ts", LATE],
  "config.idleTimeout": retry("a worker that says and does nothing is ended"),
  "config.saveInterval": ["engine/work-saver.test.ts", "is saved at intervals"],
  "config.stallTimeout": ["session/stall.test.ts", "is ended when nothing of it moves"],
  "config.permissions.*": ["session/permission.test.ts", "is decided beforehand by lists"],
  "config.autoResume": ["run/provider.test.ts", "is waited for without a person where the template says so"],
  "config.maxAutoResumes": ["run/provider.test.ts", "is waited for without a person where the template says so"],
  "config.answerTimeout": ["run/inbox.test.ts", "that nobody answers in time is answered by its default"],
  "config.autoSpawn": plan("goes on by itself when the template says autoSpawn"),
  "config.parallelExecution": order("follows the main session's own order where one task runs at a time"),
  "config.retryOnError": retry("is refused when the template turns it off"),
  "config.maxRetries": retry("is refused beyond the limit of the template"),
  "config.autoRetry": retry("does not happen unless the template wants it"),
  "config.retryDelay": retry("waits twice as long each time"),
  "config.failedDependency": retry("is done without when the template says continue"),
  "config.overlappingScopes": order("do not run at the same time, and others go first"),
  "config.priorityOrder": plan("reads priorities with 1 as the highest"),
  "config.sessionPrefix": ["schema/vocabulary.test.ts", "of worker sessions are local_, the template's prefix"],
  "config.spawnDelay": order("with a spawnDelay is one at a time"),
  "config.progressDetectionInterval": [
    "server/steering.test.ts",
    "that shows nothing for as long as the template says",
  ],
  "config.hideWorkersFromList": [
    "module/orchestrator-manager.test.ts",
    "leaves the sessions of workers out of the list",
  ],
  "config.pollInterval": ["module/controller-run.test.ts", "has its workers polled at the interval of the template"],
  "config.acceptWithoutWork": [
    "run/lifecycle.test.ts",
    "a success without a tool call and without a change is a failure",
  ],
  "config.budget.usd": steering("that is exhausted during a turn pauses the run at once"),
  "config.budget.tokens": budget("in %s stops the run where it is"),
  "config.budget.minutes": budget("in minutes counts from the start"),
  "config.budget.turns": budget("in turns stops before the turn"),
  "config.budget.descendants": budget("in sessions stops before the session"),
  "config.budget.depth": ["engine/sub-sessions.test.ts", "are rejected below a session of a run, deeper than"],
  "phases.analysis.enabled": after("planning follows analysis by itself, and comes first where there is no analysis"),
  "phases.taskPlanning.enabled": after("without planning the request itself is the one task"),
  "phases.workerExecution.enabled": after("without workers the plan, or the analysis, is the result"),
  "phases.aggregation.enabled": after("phases that the template turns off are left out"),
  "phases.verification.enabled": after("aggregation follows, then verification if enabled"),
  "phases.analysis.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.taskPlanning.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.aggregation.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.verification.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.workerExecution.timeout": retry("of the workers' phase as a whole end what runs"),
  "phases.analysis.agent": after(ROLES),
  "phases.taskPlanning.agent": after(ROLES),
  "phases.workerExecution.agent": ["engine/settings.test.ts", "may differ in every phase"],
  "phases.aggregation.agent": after(ROLES),
  "phases.verification.agent": after(ROLES),
  "phases.analysis.role": after(ROLES),
  "phases.taskPlanning.role": after(ROLES),
  "phases.workerExecution.role": after(ROLES),
  "phases.aggregation.role": after(ROLES),
  "phases.verification.role": steering("runs with that agent in its role"),
  "phases.analysis.tools.*": prompt(TOOLS),
  "phases.taskPlanning.tools.*": prompt(TOOLS),
  "phases.workerExecution.tools.*": prompt(TOOLS),
  "phases.aggregation.tools.*": prompt(TOOLS),
  "phases.verification.tools.*": prompt(TOOLS),
  "phases.taskPlanning.validation.*": plan("warns of too few or too many tasks"),
  "phases.workerExecution.progressReporting": prompt("contains the progress interval or forbids progress reports"),
  "phases.workerExecution.progressInterval": prompt("contains the progress interval or forbids progress reports"),
  "phases.workerExecution.completionMarkers": steering("may be a last line from the template's completion markers"),
  "phases.aggregation.mergeStrategy": after("concatenating asks nobody where no file is in two results"),
  "phases.aggregation.conflictResolution": steering("about conflicts follow the template's %s"),
  "phases.aggregation.skipWhenIndependent": after("results that nowhere meet need no merging"),
  "prompts.responseFormat.delimiterStart": ["engine/settings.test.ts", "uses the template's delimiters"],
  "prompts.responseFormat.delimiterEnd": ["engine/settings.test.ts", "uses the template's delimiters"],
  "prompts.responseFormat.type": ["template/validation.test.ts", "can be answered in JSON only"],
  "prompts.analysis.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.taskPlanning.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.worker.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.aggregation.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.verification.*": ["engine/settings.test.ts", "requires the template's fields"],
  "hooks.*": hooks("that is a function is called once for each event"),
};

/** Settings that are not implemented yet, with the planned work. */
export const WAITING: Record<string, string> = {
  "config.useSubSessions": "sub-sessions and tools",
  "config.inactivityThreshold": "sub-sessions and tools",
  "config.confirmationDelay": "sub-sessions and tools",
  "ui.*": "dashboard",
};
