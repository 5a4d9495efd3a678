// `forwardEvents` emits the events of the log from the classes of document 004, with their names and data.
import type { EventEmitter } from "node:events";
import type { SharedEngine } from "./shared-engine.ts";
import type { EventData, EventType } from "../schema/event.ts";

export type ModuleEvents = { [T in EventType]: [data: EventData<T>] };

/**
 * Emits only events that become durable from now on. `queueMicrotask` keeps an error of a listener away from the
 * engine, which is still handling the event.
 */
export function forwardEvents(
  shared: SharedEngine,
  emitter: EventEmitter<ModuleEvents>,
  isIncluded: (type: EventType) => boolean,
): void {
  const emit = emitter.emit.bind(emitter) as (type: string, data: unknown) => boolean;
  shared.subscribe(({ type, data }) => {
    if (isIncluded(type)) queueMicrotask(() => emit(type, data));
  });
}

export const isOfSubSessions = (type: EventType): boolean => type.startsWith("subsession:");
export const isOfTemplates = (type: EventType): boolean => type.startsWith("template:");
export const isOfWorkers = (type: EventType): boolean => type.startsWith("worker:") || type.startsWith("workers:");
export const isOfOrchestrators = (type: EventType): boolean =>
  !isOfWorkers(type) && !isOfSubSessions(type) && !isOfTemplates(type);
