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

const workspace = (title: string): Shown => ["engine/prepare-workspace.test.ts", title];
const checks = (title: string): Shown => ["engine/checks.test.ts", title];
const team = (title: string): Shown => ["team/feature.test.ts", title];
const protocols: Shown = ["team/protocols.test.ts", "completes one run, in which each role gets and answers its task"];
const look: Shown = [
  "web/page-parts.test.ts",
  "gives a run its mark, the parts of a worker's card and the columns of the table",
];

const LATE = "ends a worker that times out, with its whole process tree";
const ROLES = "gets its own session, and the previous session ends";
const TOOLS = "names the template's tools and sub-agent type";
const PHASE_TIME = "that times out in a phase is replaced once, then the run waits";

export const SHOWN: Record<string, Shown> = {
  "phases.workerExecution.agents.agent": [
    "engine/settings.test.ts",
    "is chosen by the planner from the template's list",
  ],
  "phases.workerExecution.agents.model": [
    "engine/settings.test.ts",
    "is chosen by the planner from the template's list",
  ],
  "phases.workerExecution.agents.strengths": prompt("lists the template's agents with strengths and prices"),
  "phases.workerExecution.agents.price": prompt("lists the template's agents with strengths and prices to the planner"),
  "config.agent": ["engine/settings.test.ts", "is the template's unless the request names one"],
  "config.maxWorkers": order("is bounded by the template's maxWorkers"),
  "config.workerTimeout": ["engine/engine.test.ts", LATE],
  "config.idleTimeout": retry("ends a worker without activity if the template sets idleTimeout"),
  "config.saveInterval": ["engine/work-saver.test.ts", "is saved at intervals"],
  "config.stallTimeout": [
    "session/stall.test.ts",
    "is killed when it stalls, and its conversation is resumed once, in the",
  ],
  "config.sandbox.network": ["session/sandbox.test.ts", "allows the network unless the template forbids it"],
  "config.permissions.*": ["session/permission.test.ts", "follows the lists, and `refuse` wins over everything"],
  "config.autoResume": [
    "run/provider.test.ts",
    "resumes the run automatically if the template allows it, up to its max",
  ],
  "config.maxAutoResumes": [
    "run/provider.test.ts",
    "resumes the run automatically if the template allows it, up to its max",
  ],
  "config.answerTimeout": [
    "run/inbox.test.ts",
    "that expires is answered with its default if the template sets `answer",
  ],
  "config.autoSpawn": plan("is confirmed automatically if the template sets autoSpawn (E15)"),
  "config.warmSessions": ["engine/warm-start.test.ts", "waits for the answer of the task before it, and is replaced"],
  "config.parallelExecution": order("follows the main session's order if tasks run one at a time (E35)"),
  "config.retryOnError": retry("is rejected if the template disables it (D4-111, D4-251)"),
  "config.maxRetries": retry("is rejected beyond the limit of the template, which is 2 by default (D"),
  "config.autoRetry": retry("does not happen unless the template enables it (D4-256, D4-586/E14)"),
  "config.retryDelay": retry("waits twice as long each time"),
  "config.failedDependency": retry("is ignored if the template says continue"),
  "config.emergingConflicts": ["engine/conflict-radar.test.ts", "holds the later task until the earlier one has ended"],
  "config.overlappingScopes": order("do not run at the same time, and other tasks start first (E16)"),
  "config.priorityOrder": plan("reads 1 as the highest priority, or 10 if the template says so (D4-029"),
  "config.sessionPrefix": [
    "schema/vocabulary.test.ts",
    "of worker sessions consist of local_, the template's prefix, the run w",
  ],
  "config.spawnDelay": order("with a spawnDelay is one at a time"),
  "config.progressDetectionInterval": [
    "server/steering.test.ts",
    "without output for the template's limit is quiet (D4-258, D4-259)",
  ],
  "config.hideWorkersFromList": [
    "module/orchestrator-manager.test.ts",
    "leaves the sessions of workers out of the list",
  ],
  "config.pollInterval": ["module/controller-run.test.ts", "has its workers polled at the interval of the template"],
  "config.acceptWithoutWork": [
    "run/lifecycle.test.ts",
    "of success without a tool call that succeeded or a change is a failur",
  ],
  "config.budget.usd": steering("that is exhausted during a turn pauses the run at once"),
  "config.budget.tokens": budget("in %s pauses the run, asks for more and loses no work"),
  "config.budget.minutes": budget("in minutes counts from the start"),
  "config.budget.turns": budget("in turns pauses the run before the turn that exceeds it"),
  "config.budget.descendants": budget("in sessions pauses the run before the session that exceeds it"),
  "config.budget.depth": ["run/natural.test.ts", "asks for more levels when a sub-session nests deeper"],
  "config.useSubSessions": ["engine/natural.test.ts", "may start sub-agents and answer in plain words"],
  "config.inactivityThreshold": ["engine/natural.test.ts", "keeps the run open until its result is in the next turn"],
  "config.confirmationDelay": ["engine/natural.test.ts", "keeps the run open until its result is in the next turn"],
  "phases.analysis.enabled": after("enters planning after the analysis, or first if there is no analysis ("),
  "phases.taskPlanning.enabled": after("uses the request as the only task if planning is disabled"),
  "phases.workerExecution.enabled": after("completes with the plan or the analysis if workers are disabled"),
  "phases.aggregation.enabled": after("skips phases that the template disables (D4-064, D4-322, D4-582, D4-58"),
  "workspace.sparse": workspace("has only the scope of its task and the files above it if the template says so"),
  "workspace.copy": workspace("brings the files and runs the commands of the template, and nothing of"),
  "workspace.link": workspace("brings the files and runs the commands of the template, and nothing of"),
  "workspace.setup.*": workspace("brings the files and runs the commands of the template, and nothing of"),
  "phases.aggregation.commands.*": [
    "engine/merge-queue.test.ts",
    "is not merged, and its task learns both intentions and starts from the",
  ],
  "phases.verification.commands.name": checks("run in the merged tree and are evidence of the result"),
  "phases.verification.commands.run": checks("run in the merged tree and are evidence of the result"),
  "phases.verification.commands.timeout": checks("that fail make a run with a passed verification degraded"),
  "phases.verification.autoFix": ["engine/checks.test.ts", "give the main session one more turn if the template"],
  "phases.verification.enabled": after("enters aggregation, then verification if enabled, then completes (D4-0"),
  "phases.analysis.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.taskPlanning.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.aggregation.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.verification.timeout": ["run/lifecycle.test.ts", PHASE_TIME],
  "phases.workerExecution.timeout": retry("of the phase as a whole ends active tasks and blocks the rest"),
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
  "phases.taskPlanning.validation.*": plan("warns of too few tasks, too many tasks and tasks without a scope, as t"),
  "phases.workerExecution.progressReporting": prompt("contains the progress interval or forbids progress reports"),
  "phases.workerExecution.progressInterval": prompt("contains the progress interval or forbids progress reports"),
  "phases.workerExecution.completionMarkers": steering("may be a last line from the template's completion markers"),
  "phases.aggregation.mergeStrategy": after("concatenates results without a session if they share no file, and asks"),
  "phases.aggregation.conflictResolution": steering("about conflicts follow the template's %s"),
  "phases.aggregation.skipWhenIndependent": after(
    "skips aggregation of results that share no file if the template allows",
  ),
  "prompts.responseFormat.delimiterStart": ["engine/settings.test.ts", "uses the template's delimiters"],
  "prompts.responseFormat.delimiterEnd": ["engine/settings.test.ts", "uses the template's delimiters"],
  "prompts.responseFormat.type": ["template/validation.test.ts", "can be answered in JSON only"],
  "prompts.analysis.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.taskPlanning.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.worker.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.aggregation.*": ["engine/settings.test.ts", "requires the template's fields"],
  "prompts.verification.*": ["engine/settings.test.ts", "requires the template's fields"],
  "roles.aliases": protocols,
  "roles.protocol": protocols,
  "roles.agent": team("gives each role its own agent, model and environment"),
  "roles.model": team("gives each role its own agent, model and environment"),
  "roles.labels": plan("starts a task with the labels that its host must offer"),
  "roles.workspace": team("never starts a deployment that no review approved"),
  "pipeline.id": team("runs the pipeline of document 003 and deploys exactly the approved"),
  "pipeline.role": team("runs the pipeline of document 003 and deploys exactly the approved"),
  "pipeline.after": team("runs the pipeline of document 003 and deploys exactly the approved"),
  "pipeline.title": team("gives each role the assignment of its step"),
  "pipeline.requirements": team("gives each role the assignment of its step"),
  "pipeline.acceptanceCriteria": team("gives each role the assignment of its step"),
  "pipeline.filesToReview": team("gives each role the assignment of its step"),
  "team.ackTimeout": ["team/delivery.test.ts", "that is not acknowledged in time is sent again once with the next"],
  "team.resendLimit": ["team/delivery.test.ts", "that is not acknowledged in time is sent again once with the next"],
  "team.deadline": ["team/deadline.test.ts", "is overdue once; then the user is asked, and the work still counts"],
  "team.continuous": ["team/continuous.test.ts", "plans again when all tasks have ended, until the lead plans none"],
  "team.breaker": ["team/continuous.test.ts", "is paused by its circuit breaker after failures of the same kind"],
  "team.rejectionLimit": ["team/feature.test.ts", "fails the task after the last allowed rejection"],
  "team.recycleAfter": ["team/modes.test.ts", "replaces a long main session by one that gets a summary"],
  "team.recycleAt": ["team/modes.test.ts", "replaces a long main session by one that gets a summary"],
  "team.contextWindow": ["team/modes.test.ts", "replaces a long main session by one that gets a summary"],
  "gate.environment": ["team/override.test.ts", "lets an admin open the gate of the target where the template"],
  "gate.environments.override": [
    "team/override.test.ts",
    "lets an admin open the gate of the target where the template",
  ],
  "gate.environments.conditional": ["team/attacks.test.ts", "accepts a conditional review only where the environment"],
  "gate.environments.approvalTtl": [
    "team/attacks.test.ts",
    "closes when a ref of the run moves, and when the approval",
  ],
  "ui.color": ["web/run-views.test.ts", "follows `ui` of its template"],
  "ui.showTokenEstimate": ["web/run-views.test.ts", "follows `ui` of its template"],
  "ui.showProgressBar": ["web/run-views.test.ts", "follows `ui` of its template"],
  "ui.icon": look,
  "ui.showWorkerDetails": look,
  "ui.progressStyle": look,
  "ui.workerColumns": look,
  "hooks.*": hooks("that is a function is called once for each event"),
};
