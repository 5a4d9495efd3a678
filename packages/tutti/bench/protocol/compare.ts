// Measures functions against the first of them, per CPU second, in turns.

/** The speed of each function as a share of the first one's: the median over the rounds. */
export function compare(
  candidates: Record<string, () => unknown>,
  repeats: number,
  rounds = 9,
): Record<string, number> {
  const names = Object.keys(candidates);
  const shares: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds + 2; round++) {
    const order = round % 2 === 0 ? names : names.toReversed();
    const cost: Record<string, number> = {};
    for (const name of order) cost[name] = cpuTime(candidates[name]!, repeats);
    // The first two rounds warm up.
    if (round > 1) for (const name of names) shares[name]!.push(cost[names[0]!]! / cost[name]!);
  }
  return Object.fromEntries(names.map((name) => [name, median(shares[name]!)]));
}

function cpuTime(run: () => unknown, repeats: number): number {
  const before = process.cpuUsage();
  for (let index = 0; index < repeats; index++) run();
  const spent = process.cpuUsage(before);
  return spent.user + spent.system;
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
