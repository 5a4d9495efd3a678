// How fast damaged text is read, as a share of what JSON.parse needs for the same text undamaged. All figures are per
// CPU second, the candidates take turns, and the ratios are taken inside a round, so that a busy machine does not matter.
// Run: npm run bench -- repair-speed
import { createRequire } from "node:module";
import { readTolerantly } from "../../src/protocol/tolerant-json.ts";
import { DAMAGES, damaged } from "../../test/protocol/damage.ts";
import { randomFrom, randomMessage } from "../../test/protocol/random-message.ts";
import { compare } from "./compare.ts";

const SIZES = [100_000, 5_000_000];
const KINDS = [
  "trailing commas",
  "unquoted keys",
  "single quotes",
  "line comments",
  "raw line breaks in texts",
  "missing commas at line ends",
];

function loadPeer(folder: string | undefined): ((text: string) => string) | null {
  if (folder === undefined) return null;
  return createRequire(`${folder}/x.js`)("jsonrepair").jsonrepair;
}

/** A list of messages of about this size: as JSON, and written with a damage. */
function texts(size: number, damageNames: string[]): { sound: string; broken: string } {
  const random = randomFrom(1);
  const damages = DAMAGES.filter((damage) => damageNames.includes(damage.name));
  const sound: string[] = [];
  const broken: string[] = [];
  let length = 0;
  while (length < size) {
    const message = randomMessage(random);
    sound.push(JSON.stringify(message, null, 2));
    broken.push(damaged(message, damages, random));
    length += sound.at(-1)?.length ?? 0;
  }
  return { sound: `{"all": [${sound.join(",\n")}]}`, broken: `{"all": [${broken.join(",\n")},]}` };
}

const peer = loadPeer(process.argv[2]);
for (const size of SIZES) {
  for (const kinds of [
    ["none but one trailing comma"],
    ...KINDS.map((kind) => [kind]),
    ["trailing commas", "unquoted keys"],
  ]) {
    const { sound, broken } = texts(size, kinds);
    const reading = readTolerantly(broken);
    if (!reading.ok) throw new Error(`${kinds.join(" and ")}: ${reading.reason}`);
    const rates = compare(
      {
        parse: () => JSON.parse(sound),
        ours: () => readTolerantly(broken),
        ...(peer && size <= 200_000 ? { jsonrepair: () => JSON.parse(peer(broken)) } : {}),
      },
      size > 1_000_000 ? 1 : 20,
    );
    const scale = broken.length / sound.length;
    const peerShare = rates.jsonrepair === undefined ? "" : `, jsonrepair ${(rates.jsonrepair * scale).toFixed(3)}`;
    console.log(
      `${size} bytes, ${kinds.join(" and ")}: ${((rates.ours ?? 0) * scale).toFixed(2)} of JSON.parse${peerShare}`,
    );
  }
}
