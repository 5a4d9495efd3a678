// Measures functions against the first of them, per CPU second, in turns.

/** Each function runs at least this long before the measurement, so that it is compiled. */
const WARM_UP_MS = 250;

/** Returns each speed relative to the first of the `candidates`: the median over the rounds. */
export function compare(
  candidates: Record<string, () => unknown>,
  repeats: number,
  rounds = 9,
): Record<string, number> {
  const names = Object.keys(candidates);
  const shares: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) warmUp(candidates[name]!);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed();
    const cost: Record<string, number> = {};
    for (const name of order) cost[name] = cpuTime(candidates[name]!, repeats);
    for (const name of names) shares[name]!.push(cost[names[0]!]! / cost[name]!);
  }
  return Object.fromEntries(names.map((name) => [name, median(shares[name]!)]));
}

function warmUp(run: () => unknown): void {
  let spent = 0;
  for (let runs = 0; runs < 2 || spent < 1000 * WARM_UP_MS; runs++) spent += cpuTime(run, 1);
}

/** Microseconds over all threads. */
export function cpuTime(run: () => unknown, repeats: number): number {
  const before = process.cpuUsage();
  for (let index = 0; index < repeats; index++) run();
  const spent = process.cpuUsage(before);
  return spent.user + spent.system;
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
