// What becomes of everything that was not synced, from the worst that is simple to whatever a seed says.
import type { Luck } from "./disk.ts";

/** Nothing that was not synced is there. */
const nothing: Luck = { names: () => 0, bytes: () => "none" };
/** Every name is there and no byte behind it: the way a file is found empty after a power cut. */
const names: Luck = { names: (count) => count, bytes: () => "none" };
/** Every byte reached the disk and no name did. */
const bytes: Luck = { names: () => 0, bytes: () => "all" };

export const SIMPLE: Record<string, Luck> = { nothing, names, bytes };

/** Each thing on its own: lost, kept, or in part. */
export function randomLuck(random: () => number): Luck {
  return {
    names: (count) => Math.floor(random() * (count + 1)),
    bytes: () => {
      const fate = random();
      if (fate < 0.3) return "none";
      if (fate < 0.6) return "all";
      // Half of these lose the end, half of them any block.
      if (fate >= 0.8) return () => random() < 0.5;
      const until = Math.floor(random() * 24);
      return (block) => block < until;
    },
  };
}

/** Small, repeatable, and good enough to choose moments. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
