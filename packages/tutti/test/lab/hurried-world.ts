import { realWorld, type World } from "../../src/world.ts";

const HURRY = 50;
const LIMIT_MS = 3_600_000;

/**
 * From now on, durations pass 50 times faster, for waits that end by themselves. A sleep after an hour of them throws.
 */
export function hurriedWorld(): World {
  const from = realWorld.mono();
  const mono = () => from + (realWorld.mono() - from) * HURRY;
  const until = from + LIMIT_MS;
  return {
    ...realWorld,
    mono,
    sleep(...args) {
      if (mono() > until) throw new Error("A wait that must end by itself did not end within an hour.");
      return realWorld.sleep(...args);
    },
  };
}
