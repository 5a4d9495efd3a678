// The events of the log as the classes of document 004 emit them: under their names, with their data.
import type { EventEmitter } from "node:events";
import type { Backstage } from "./backstage.ts";
import type { EventData, EventType } from "../schema/event.ts";

export type ModuleEvents = { [T in EventType]: [data: EventData<T>] };

/**
 * Emits what becomes durable from now on. A listener that throws is its own program's fault: it must not reach the engine,
 * which is in the middle of its work when it tells of an event.
 */
export function forwardEvents(
  stage: Backstage,
  emitter: EventEmitter<ModuleEvents>,
  isMine: (type: EventType) => boolean,
): void {
  const emit = emitter.emit.bind(emitter) as (type: string, data: unknown) => boolean;
  stage.subscribe(({ type, data }) => {
    if (isMine(type)) queueMicrotask(() => emit(type, data));
  });
}

export const isOfSubSessions = (type: EventType): boolean => type.startsWith("subsession:");
export const isOfTemplates = (type: EventType): boolean => type.startsWith("template:");
export const isOfWorkers = (type: EventType): boolean => type.startsWith("worker:") || type.startsWith("workers:");
/** What is nobody else's. */
export const isOfOrchestrators = (type: EventType): boolean =>
  !isOfWorkers(type) && !isOfSubSessions(type) && !isOfTemplates(type);
