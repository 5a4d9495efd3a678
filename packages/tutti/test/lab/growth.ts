// Checks that the cost of a function is proportional to its input, independent of the machine and of other load.

/** Below this CPU time, noise outweighs the work of `act`. */
const NOISE_MS = 300;
const FACTOR = 8;

/**
 * Throws if `FACTOR` times the input costs much more than `FACTOR` times the CPU time. Quadratic work costs 64 times as
 * much, so the limit between them leaves room for noise on both sides.
 */
export function expectLinear(act: (size: number) => unknown, size: number): void {
  const small = cpuMs(() => act(size / FACTOR));
  const large = cpuMs(() => act(size));
  if (large > NOISE_MS && large > 3 * FACTOR * Math.max(small, 1))
    throw new Error(
      `${FACTOR} times the input took ${large.toFixed(0)} ms of CPU time instead of ${small.toFixed(0)} ms`,
    );
}

/** Tests of one file run one after the other, so the CPU time of this process is theirs. */
function cpuMs(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
