import { outlineOf, type Outline } from "./outline.ts";
import type { Run } from "../../schema/run.ts";

const closures = new WeakMap<Outline, Map<string, ReadonlySet<string>>>();

/** Returns the dependencies of `taskId`, theirs, and so on: its workspace starts from their work. */
export function dependenciesOf(run: Run, taskId: string): ReadonlySet<string> {
  const outline = outlineOf(run);
  const known = closures.get(outline) ?? new Map<string, ReadonlySet<string>>();
  closures.set(outline, known);
  const cached = known.get(taskId);
  if (cached) return cached;
  const { places, needs } = outline;
  // Iterating over a `Set` includes the members added on the way.
  const found = new Set(needs[places.get(taskId)!]);
  for (const place of found) for (const need of needs[place]!) found.add(need);
  const closure = new Set([...found].map((place) => run.tasks[place]!.id));
  known.set(taskId, closure);
  return closure;
}
