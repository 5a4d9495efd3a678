// The types below use those of Node, which `@types/node` provides. Without this line a project that names no `types` of
// its own could not compile them.
/// <reference types="node" preserve="true" />
export { createClient, type ClientOptions } from "./client/client.ts";
export { followEvents, type FollowOptions } from "./client/follow-events.ts";
export type { Frame } from "./client/frame.ts";
export { RequestError } from "./client/request-error.ts";
export { Engine, type EngineOptions, type Listener } from "./engine/engine.ts";
export type { NewRun } from "./engine/new-run.ts";
export type { RunSummary } from "./engine/runs/finished-runs.ts";
export { openLocalEngine, type LocalEngine, type LocalOptions } from "./main/local-engine.ts";
export { readRun, readSummaries } from "./main/read-log.ts";
export { Mailbox } from "./mailbox/mailbox.ts";
export { SharedEngine, type Controller } from "./module/shared-engine.ts";
export type { ListedSession, ListOptions } from "./module/list-sessions.ts";
export type { ModuleEvents } from "./module/module-events.ts";
export {
  OrchestratorModule,
  type ActiveSummary,
  type CleanedUp,
  type ModuleOptions,
} from "./module/orchestrator-module.ts";
export { SubSessionManager } from "./module/sub-session-manager.ts";
export type { RelationUpdates, SubSessionRelation } from "./module/sub-session-relation.ts";
export type { ConfirmedCounts } from "./engine/sub-sessions/count-confirmed.ts";
export type { HookFunction } from "./engine/hooks.ts";
export type { ReturnedResult } from "./engine/sub-sessions/return-result.ts";
export type { SubSessionStats } from "./engine/sub-sessions/sub-session-monitor.ts";
export type { TaskInvocation } from "./engine/sub-sessions/task-invocations.ts";
export type { NamedAgent } from "./session/named-hosts.ts";
export { OrchestratorManager, type WorkerTask } from "./module/orchestrator-manager.ts";
export type { OrchestratorState, OrchestratorSummary } from "./module/orchestrator-state.ts";
export type { PhaseResult } from "./module/process-phase.ts";
export type { QueueItem } from "./module/spawn-tasks.ts";
export { TemplateManager } from "./module/template-manager.ts";
export { WorkerManager, type UpdateResult } from "./module/worker-manager.ts";
export type { AggregatedStats } from "./engine/sessions/worker-stats.ts";
export type { WorkerOutput, WorkerState } from "./module/worker-state.ts";
export { detectProtocol } from "./protocol/canonical/detect-protocol.ts";
export { readMessage, writeMessage } from "./protocol/canonical/read-message.ts";
export { fromCanonical, toCanonical, translate } from "./protocol/canonical/translate.ts";
export { parseOrchestratorResponse } from "./protocol/response/parse-orchestrator-response.ts";
export { ResponseParser } from "./protocol/response/response-parser.ts";
export { apply, fold } from "./run/apply.ts";
export { census } from "./run/census.ts";
export { outcome } from "./run/outcome/outcome.ts";
export { ERRORS, TuttiError, type ErrorCode } from "./schema/error.ts";
export { EVENTS, type EventData, type EventType, type RunEvent, type StoredEvent } from "./schema/event.ts";
export type { Census, Conflict, Outcome, Usage, Verdict } from "./schema/outcome.ts";
export type { Run } from "./schema/run.ts";
export { OrchestratorOptions, SubSessionOptions, WorkerOptions } from "./schema/options.ts";
export { ORCHESTRATOR_PHASE, ORCHESTRATOR_STATUS, SUBSESSION_STATUS, WORKER_STATUS } from "./schema/status.ts";
export type { Task } from "./schema/task.ts";
export type { Template } from "./schema/template.ts";
export type { Worker } from "./schema/worker.ts";
export { ClaudeSessions } from "./session/claude-sessions/claude-sessions.ts";
export type { SessionController } from "./session/polled/session-controller.ts";
export type { Session, SessionHost, SessionSpec } from "./session/session.ts";
export {
  TemplateLibrary,
  type Destination,
  type LibraryOptions,
  type ResolvedTemplate,
} from "./template/files/library.ts";
export { BUILT_IN_VARIABLES } from "./template/variables.ts";
