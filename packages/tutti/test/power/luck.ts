// Rules for the fate of unsynced changes, from simple worst cases to random ones.
import type { Luck } from "./disk.ts";

const nothing: Luck = { names: () => 0, bytes: () => "none" };
/** Every name survives but no bytes: files are found empty. */
const names: Luck = { names: (count) => count, bytes: () => "none" };
/** All bytes survive but no names. */
const bytes: Luck = { names: () => 0, bytes: () => "all" };

export const SIMPLE: Record<string, Luck> = { nothing, names, bytes };

export function randomLuck(random: () => number): Luck {
  return {
    names: (count) => Math.floor(random() * (count + 1)),
    bytes: () => {
      const fate = random();
      if (fate < 0.3) return "none";
      if (fate < 0.6) return "all";
      // Half of these lose the end, the others random blocks.
      if (fate >= 0.8) return () => random() < 0.5;
      const until = Math.floor(random() * 24);
      return (block) => block < until;
    },
  };
}

export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
