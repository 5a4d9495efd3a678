// How fast the scanner passes over talk and finds blocks, as a share of one Buffer.indexOf over the same bytes, and
// whether that stays the same from 1 MB to 100 MB.
// Run: npm run bench -- scanner-speed
import { DEFAULT_DELIMITERS, ResponseScanner } from "../../src/protocol/response-scanner.ts";
import { randomFrom, randomMessage } from "../../test/protocol/random-message.ts";
import { compare } from "./compare.ts";

const { delimiterStart, delimiterEnd } = DEFAULT_DELIMITERS;
const TALK = "The agent reads files, edits <b>some</b> of them, runs `npm test` and says what it does. Größe 10 KB. ";

/** Talk with a block of about 600 bytes in every 20 KB. */
function transcript(size: number): Buffer {
  const random = randomFrom(5);
  const parts: string[] = [];
  let length = 0;
  while (length < size) {
    const block = `${delimiterStart}\n${JSON.stringify(randomMessage(random))}\n${delimiterEnd}\n`;
    const part = TALK.repeat(200) + block;
    parts.push(part);
    length += part.length;
  }
  return Buffer.from(parts.join(""));
}

function scan(chunks: Buffer[]): number {
  const scanner = new ResponseScanner();
  let blocks = 0;
  for (const chunk of chunks) blocks += scanner.push(chunk).length;
  return blocks + scanner.end().length;
}

/** The whole text searched once for the next start delimiter: the fastest there is. */
function searchOnce(bytes: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(delimiterStart); at !== -1; at = bytes.indexOf(delimiterStart, at + 1)) found++;
  return found;
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

const quiet = Buffer.from(TALK.repeat(Math.ceil(1_000_000 / TALK.length)));
for (const [name, size] of [
  ["1 MB", 1_000_000],
  ["100 MB", 100_000_000],
] as const) {
  const bytes = transcript(size);
  const small = cut(bytes, 4096);
  const large = cut(bytes, 65536);
  const candidates = { once: () => searchOnce(bytes), small: () => scan(small), large: () => scan(large) };
  const rates = compare(candidates, Math.max(1, Math.round(20_000_000 / size)), 7);
  console.log(
    `${name} with a block every 20 KB: ${rates.small?.toFixed(2)} of Buffer.indexOf in 4 KB chunks, ${rates.large?.toFixed(2)} in 64 KB chunks`,
  );
}
const rates = compare(
  { once: () => searchOnce(quiet), small: () => scan(cut(quiet, 4096)), large: () => scan(cut(quiet, 65536)) },
  20,
  7,
);
console.log(
  `1 MB of talk without a block: ${rates.small?.toFixed(2)} in 4 KB chunks, ${rates.large?.toFixed(2)} in 64 KB chunks`,
);

const perMegabyte = [1_000_000, 10_000_000, 100_000_000].map((size) => {
  const chunks = cut(transcript(size), 4096);
  const seconds = [0, 1, 2, 3, 4].map(() => {
    const before = process.cpuUsage();
    for (let index = 0; index < 100_000_000 / size; index++) scan(chunks);
    const spent = process.cpuUsage(before);
    return (spent.user + spent.system) / 1e6;
  });
  return seconds.toSorted((a, b) => a - b)[2] ?? Number.NaN;
});
const [one = 1, ten = 1, hundred = 1] = perMegabyte;
console.log(
  `speed at 10 MB and 100 MB as a share of that at 1 MB: ${(one / ten).toFixed(2)}, ${(one / hundred).toFixed(2)}`,
);
