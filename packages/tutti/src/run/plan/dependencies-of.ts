import { outlineOf, type Outline } from "./outline.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";

/** Returns the dependencies of `taskId`, theirs, and so on, nearest first: its workspace starts from their work. */
export function dependenciesOf(run: Run, taskId: string): string[] {
  const { places, needs } = outlineOf(run);
  // Iterating over a `Set` includes the members added on the way.
  const found = new Set(needs[places.get(taskId)!]);
  for (const place of found) for (const need of needs[place]!) found.add(need);
  return Array.from(found, (place) => run.tasks[place]!.id);
}

/** The tasks of `dependenciesOf` in the order of the plan. Costs little to ask for again and again. */
export function foundationOf(run: Run, taskId: string): TaskSet {
  const outline = outlineOf(run);
  return new TaskSet(closureOf(outline, outline.places.get(taskId)!), outline, run.tasks);
}

/** Bits by the position of a task in the plan. A `Set` of ids would take 100 times the memory. */
type Bits = Uint32Array;

class TaskSet implements Iterable<string> {
  readonly #bits: Bits;
  readonly #places: Outline["places"];
  readonly #tasks: readonly Task[];

  constructor(bits: Bits, { places }: Outline, tasks: readonly Task[]) {
    this.#bits = bits;
    this.#places = places;
    this.#tasks = tasks;
  }

  has(taskId: string): boolean {
    const place = this.#places.get(taskId);
    return place !== undefined && hasBit(this.#bits, place);
  }

  *[Symbol.iterator](): Iterator<string> {
    for (const [index, bits] of this.#bits.entries())
      for (let rest = bits; rest !== 0; rest &= rest - 1) yield this.#tasks[index * 32 + lowestBit(rest)]!.id;
  }
}

const closures = new WeakMap<Outline, Map<number, Bits>>();

function closureOf(outline: Outline, place: number): Bits {
  const known = closures.get(outline) ?? new Map<number, Bits>();
  closures.set(outline, known);
  const cached = known.get(place);
  if (cached) return cached;
  const { needs } = outline;
  const bits: Bits = new Uint32Array(Math.ceil(needs.length / 32));
  const open = [...needs[place]!];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (hasBit(bits, next)) continue;
    bits[next >>> 5]! |= 1 << (next & 31);
    const closure = known.get(next);
    if (closure) for (let i = 0; i < bits.length; i++) bits[i]! |= closure[i]!;
    else open.push(...needs[next]!);
  }
  known.set(place, bits);
  return bits;
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits);

const hasBit = (bits: Bits, place: number): boolean => (bits[place >>> 5]! & (1 << (place & 31))) !== 0;
