// Measures how fast damaged text is read, relative to JSON.parse on the same text without damage. All figures are per
// CPU second, the candidates take turns, and the ratios are computed within a round, so that other load does not
// matter.
// Run: npm run bench -- repair-speed
import { jsonrepair } from "jsonrepair";
import { readTolerantly } from "../../src/protocol/json/tolerant-json.ts";
import { DAMAGES, damaged } from "../../test/protocol/damage.ts";
import { randomFrom } from "../../test/lab/random.ts";
import { randomMessage } from "../../test/protocol/random-message.ts";
import { compare } from "./compare.ts";

const SIZES = [100_000, 5_000_000];
/** The peer's time is quadratic for some damages, so it does not get larger texts. */
const LARGEST_FOR_PEER = 200_000;
const KINDS = [
  "trailing commas",
  "unquoted keys",
  "single quotes",
  "line comments",
  "raw line breaks in texts",
  "missing commas at line ends",
];

/** A list of messages of about `size` bytes: as JSON, and with damages. */
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

function show(size: number, name: string, sound: string, broken: string): void {
  const reading = readTolerantly(broken);
  if (!reading.ok) throw new Error(`${name}: ${reading.reason}`);
  const isForPeer = size <= LARGEST_FOR_PEER;
  const rates = compare(
    {
      parse: () => JSON.parse(sound),
      ours: () => readTolerantly(broken),
      ...(isForPeer ? { jsonrepair: () => JSON.parse(jsonrepair(broken)) } : {}),
    },
    size > 1_000_000 ? 1 : 20,
    size > 1_000_000 ? 15 : 9,
  );
  const share = (rate: number | undefined): string => (((rate ?? 0) * broken.length) / sound.length).toFixed(2);
  const peer = isForPeer ? `, jsonrepair ${share(rates.jsonrepair)}` : "";
  console.log(`${size} bytes, ${name}: ${share(rates.ours)} of JSON.parse${peer}`);
}

for (const size of SIZES) {
  const { sound, broken } = texts(size, []);
  show(size, "none but one trailing comma at the very end", sound, broken);
  // `JSON.parse` runs first here, and reads almost everything before it finds the damage.
  show(
    size,
    "none but one trailing comma just before the end",
    sound,
    `${sound.slice(0, -2)}, {"last": [1,], "end": 0}]}`,
  );
  for (const kind of KINDS) {
    const made = texts(size, [kind]);
    show(size, kind, made.sound, made.broken);
  }
  const both = texts(size, ["trailing commas", "unquoted keys"]);
  show(size, "trailing commas and unquoted keys", both.sound, both.broken);
}
console.log(`jsonrepair is given texts of up to ${LARGEST_FOR_PEER} bytes`);
