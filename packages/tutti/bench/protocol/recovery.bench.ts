// Counts how many damaged messages are read correctly, for single and combined damages, and how many are misread.
// Run: npm run bench -- recovery
import { jsonrepair } from "jsonrepair";
import { combination, DAMAGES, isUnclear } from "../../test/protocol/damage.ts";
import type { Damage } from "../../test/protocol/damage.ts";
import type { Random } from "../../test/lab/random.ts";
import { ourReader, tally } from "../../test/protocol/recovery.ts";
import type { Reader, Tally } from "../../test/protocol/recovery.ts";

/** The peer does not report truncation, so it can only return a message or fail. */
const peerReader: Reader = (text) => {
  try {
    const value = JSON.parse(jsonrepair(text));
    return typeof value.phase === "string" && typeof value.data === "object"
      ? { phase: value.phase, data: value.data }
      : null;
  } catch {
    return null;
  }
};

function sum(tallies: Tally[]): Tally {
  const total: Tally = { messages: 0, recovered: 0, refused: 0, wrong: 0, wrongAndValid: 0, example: "" };
  for (const each of tallies) {
    for (const name of ["messages", "recovered", "refused", "wrong", "wrongAndValid"] as const)
      total[name] += each[name];
  }
  return total;
}

function clear(random: Random, count: number): Damage[] {
  for (;;) {
    const damages = combination(random, count);
    if (!isUnclear(damages)) return damages;
  }
}

function show(name: string, result: Tally): void {
  const share = (count: number) => `${((100 * count) / result.messages).toFixed(2)} %`;
  console.log(
    `${name}: ${result.messages} messages, recovered ${share(result.recovered)}, refused ${share(result.refused)}, ` +
      `wrong ${share(result.wrong + result.wrongAndValid)}, of these ${result.wrongAndValid} that the schema accepts`,
  );
}

const readers: [string, Reader][] = [
  ["ours", ourReader],
  ["jsonrepair", peerReader],
];
for (const [name, reader] of readers) {
  show(
    `${name}, each of ${DAMAGES.length} damages alone`,
    sum(DAMAGES.map((damage, index) => tally(index, 100, () => [damage], reader))),
  );
  show(
    `${name}, two together`,
    tally(2000, 10_000, (random) => clear(random, 2), reader),
  );
  show(
    `${name}, three together`,
    tally(3000, 10_000, (random) => clear(random, 3), reader),
  );
  show(
    `${name}, any two, unclear ones too`,
    tally(4000, 10_000, (random) => combination(random, 2), reader),
  );
}
