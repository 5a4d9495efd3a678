// Computes the figures from the records.
import { CAP, GRAPH } from "./layered-graph.ts";
import type { Record } from "./recorder.ts";
import { median } from "../protocol/compare.ts";

export interface Figures {
  totalMs: number;
  /** From the moment at which a task could have started (dependencies ended, slot free) to its start. */
  p50: number;
  p99: number;
  /** Like `p50`, but without regard to slots: from the end of its last dependency. */
  queuedP50: number;
  /** To the delivery of the task to its session; NaN for an engine without sessions. */
  promptedP50: number;
  promptedP99: number;
  transitionsPerSecond: number;
  storedPerSecond: number;
}

const NEEDS = new Map(GRAPH.map(({ id, needs }) => [id, needs]));

export function figuresOf(record: Record): Figures {
  const { from, to, starts, ends, prompted, stored } = record;
  if (new Set(starts.map(([id]) => id)).size !== GRAPH.length || ends.length !== GRAPH.length) {
    throw new Error(`${starts.length} starts and ${ends.length} ends of ${GRAPH.length} tasks were recorded`);
  }
  const waits = waitsIn(record, starts, true);
  const decisions = waitsIn(record, prompted, true);
  const perSecond = (count: number): number => (count * 1000) / (to - from);
  return {
    totalMs: to - from,
    p50: percentile(waits, 0.5),
    p99: percentile(waits, 0.99),
    queuedP50: percentile(waitsIn(record, starts, false), 0.5),
    promptedP50: percentile(decisions, 0.5),
    promptedP99: percentile(decisions, 0.99),
    transitionsPerSecond: perSecond(2 * GRAPH.length),
    storedPerSecond: perSecond(stored),
  };
}

/** Returns the delay of each start after the task could have started. With `places`, a free slot is required too. */
function waitsIn({ from, ends }: Record, moments: readonly [string, number][], places: boolean): number[] {
  const endOf = new Map(ends);
  const endTimes = ends.map(([, at]) => at).toSorted((a, b) => a - b);
  const inOrder = moments.toSorted(([, a], [, b]) => a - b);
  return inOrder.map(([id, at], i) => {
    const ready = Math.max(from, ...NEEDS.get(id)!.map((needed) => endOf.get(needed)!));
    // The first `CAP` tasks use free slots; each later one uses the slot of a task that has ended.
    const free = places && i >= CAP ? endTimes[i - CAP]! : from;
    return Math.max(0, at - Math.max(ready, free));
  });
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN;
}

export function medians<T extends { [K in keyof T]: number }>(rounds: readonly T[]): T {
  const names = Object.keys(rounds[0]!) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))])) as T;
}

export interface Recovery {
  /** From the start of the second process to its first task. */
  recoveryMs: number;
  wholeMs: number;
  /** Tasks that had finished before the kill and were started again. */
  again: number;
  lost: number;
}

/** `killed` is the length of the trace at the kill; `restarted` and `over` are monotonic times. */
export function recoveryOf(trace: string, killed: number, restarted: bigint, over: bigint): Recovery {
  const lines = (text: string): { what: string; id: string; at: bigint }[] =>
    Array.from(text.matchAll(/^(began|ended) (\S+) (\d+)$/gm), ([, what, id, at]) => {
      return { what: what!, id: id!, at: BigInt(at!) };
    });
  const before = new Set(lines(trace.slice(0, killed)).flatMap(({ what, id }) => (what === "ended" ? [id] : [])));
  const begun = lines(trace.slice(killed)).filter(({ what }) => what === "began");
  const ended = new Set(lines(trace).flatMap(({ what, id }) => (what === "ended" ? [id] : [])));
  const ms = (from: bigint, to: bigint): number => Number(to - from) / 1e6;
  return {
    recoveryMs: begun[0] ? ms(restarted, begun[0].at) : Number.POSITIVE_INFINITY,
    wholeMs: ms(restarted, over),
    again: new Set(begun.filter(({ id }) => before.has(id)).map(({ id }) => id)).size,
    lost: GRAPH.length - ended.size,
  };
}
