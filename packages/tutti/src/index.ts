// The public names, one by one.
export { Engine, type EngineOptions, type Listener, type NewRun } from "./engine/engine.ts";
export { openLocalEngine, readRuns, type LocalEngine, type LocalOptions } from "./main.ts";
export { parseOrchestratorResponse } from "./protocol/parse-orchestrator-response.ts";
export { ResponseParser } from "./protocol/response-parser.ts";
export { apply, fold } from "./run/apply.ts";
export { census, outcome } from "./run/census.ts";
export { ERRORS, TuttiError, type ErrorCode } from "./schema/error.ts";
export { EVENTS, type EventData, type EventType, type RunEvent, type StoredEvent } from "./schema/event.ts";
export type { Census, Conflict, Outcome, Usage, Verdict } from "./schema/outcome.ts";
export type { Run } from "./schema/run.ts";
export { OrchestratorOptions, SubSessionOptions, WorkerOptions } from "./schema/options.ts";
export { ORCHESTRATOR_PHASE, ORCHESTRATOR_STATUS, WORKER_STATUS } from "./schema/status.ts";
export type { Task } from "./schema/task.ts";
export type { Template } from "./schema/template.ts";
export type { Worker } from "./schema/worker.ts";
