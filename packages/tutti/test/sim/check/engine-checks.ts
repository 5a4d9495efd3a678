// Compares a living engine with the disk: it publishes only durable events, in order, and its state in memory equals
// the fold of the log.
import type { Checked } from "./log-checks.ts";
import type { Disk } from "../sim-store.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { fold } from "../../../src/run/apply.ts";
import { isNatural } from "../../../src/run/rules/natural.ts";
import { census } from "../../../src/run/census.ts";
import { workersOf } from "../../../src/run/lookup.ts";
import type { StoredEvent } from "../../../src/schema/event.ts";
import type { Census, Outcome } from "../../../src/schema/outcome.ts";
import type { Run } from "../../../src/schema/run.ts";

export class EngineChecks {
  readonly #checked: Checked;
  readonly #disk: Disk;
  readonly #lastSeen = new Map<string, number>();
  readonly #compared = new WeakSet<Run>();

  constructor(checked: Checked, disk: Disk, engine: Engine) {
    this.#checked = checked;
    this.#disk = disk;
    for (const run of engine.list()) {
      this.#lastSeen.set(run.id, run.runSeq);
      this.#compareWithWholeLog(run);
    }
  }

  #compareWithWholeLog(run: Run): void {
    const events = this.#disk.events.filter((event) => event.run === run.id);
    this.#same(run, fold(null, events)!, "after a restart");
  }

  received(event: StoredEvent): void {
    const { stage } = this.#checked;
    const durable = this.#disk.events[event.seq - 1];
    const same = durable?.run === event.run && durable?.runSeq === event.runSeq && durable?.type === event.type;
    stage.require(same, "I3", () => `${event.type} ${event.runSeq} of ${event.run} is published but not on disk`);
    if (event.run === null) return;
    const last = this.#lastSeen.get(event.run) ?? 0;
    stage.require(event.runSeq === last + 1, "I7", () => `${event.run} publishes ${event.runSeq} after ${last}`);
    this.#lastSeen.set(event.run, event.runSeq);
  }

  /** Called with the `run` that a command has returned. */
  acknowledged(run: Run): void {
    const durable = this.#disk.lastOf(run.id);
    this.#checked.stage.require(
      run.runSeq <= durable,
      "I3",
      () => `${run.id} is acknowledged at ${run.runSeq} of ${durable}`,
    );
  }

  check(engine: Engine): void {
    const { stage, ledgers } = this.#checked;
    for (const [id, ledger] of ledgers) {
      const run = engine.get(id);
      if (!run || this.#compared.has(run)) continue;
      const durable = ledger.runSeq;
      stage.require(run.runSeq <= durable, "I3", () => `${run.id} is in memory at ${run.runSeq} of ${durable}`);
      // A stored event is not acknowledged yet; a later `check` compares the state.
      if (run.runSeq !== durable || !ledger.run) continue;
      this.#compared.add(run);
      this.#same(run, ledger.run, "in memory");
      this.#count(run);
    }
  }

  #same(run: Run, folded: Run, when: string): void {
    const same = isSameJson(membersOf(run), membersOf(folded));
    this.#checked.stage.require(same, "I8", () => `${run.id} ${when}: ${difference(run, folded)}`);
  }

  #count(run: Run): void {
    const counts = census(run);
    this.#addsUp(run.id, counts);
    const { ledgers, stage } = this.#checked;
    const ofMain = Object.values(run.subagents ?? {}).filter(({ sessionId }) => sessionId === run.main?.sessionId);
    const subSessions = isNatural(run) ? ofMain : [];
    const completed =
      run.tasks.filter(({ id }) => ledgers.get(run.id)!.completed.has(id) && !run.skipped[id]).length +
      subSessions.filter(({ status }) => status === "completed").length;
    stage.require(
      completed === counts.completed,
      "census",
      () => `${run.id}: ${counts.completed} of ${completed} completed`,
    );
    const planned = run.tasks.length + subSessions.length;
    stage.require(counts.planned === planned, "census", () => `${run.id}: ${counts.planned} planned`);
  }

  #addsUp(id: string, { planned, ...counts }: Census): void {
    const sum = Object.values(counts).reduce((all, each) => all + each, 0);
    this.#checked.stage.require(sum === planned, "census", () => `${id}: ${sum} of ${planned}`);
  }

  lookedAt(outcome: Outcome): void {
    this.#checked.stage.count("results looked at");
    this.#addsUp(outcome.id, outcome.census);
  }
}

/** A template never changes, and the workers of a large run are faster as a list than through their proxy. */
function membersOf(run: Run): object {
  const { template: _, workers: __, ...rest } = run;
  return { ...rest, workers: workersOf(run) };
}

/** The object that a part of a state was found equal to. A change replaces the objects on its path and keeps the others. */
const twins = new WeakMap<object, object>();

/** Whether both would be the same JSON text, with their members in the same order. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (twins.get(one) === other) return true;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, otherNames] = [definedNames(one), definedNames(other)];
  if (names.length !== otherNames.length) return false;
  for (const [i, name] of names.entries()) {
    if (name !== otherNames[i]) return false;
    if (!isSameJson(Reflect.get(one, name), Reflect.get(other, name))) return false;
  }
  twins.set(one, other);
  return true;
}

/** JSON has no member for a value that is undefined. */
function definedNames(value: object): string[] {
  const names = Object.keys(value);
  return names.every((name) => Reflect.get(value, name) !== undefined)
    ? names
    : names.filter((name) => Reflect.get(value, name) !== undefined);
}

function difference(run: Run, folded: Run): string {
  const [one, other] = [run, folded].map((state) => JSON.stringify(membersOf(state))) as [string, string];
  let at = 0;
  while (one[at] === other[at]) at++;
  return `${one.slice(Math.max(0, at - 60), at + 60)} ≠ ${other.slice(Math.max(0, at - 60), at + 60)}`;
}
