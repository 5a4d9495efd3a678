// Measures how fast the scanner skips text and finds blocks, relative to one Buffer.indexOf over the same bytes, and
// whether that is constant from 1 MB to 100 MB.
//
// The scanner also decodes and parses blocks. The second baseline therefore has all bytes at once and does only the
// unavoidable: search for both delimiters, decode, JSON.parse.
// Run: npm run bench -- scanner-speed
import { DEFAULT_DELIMITERS, ResponseScanner } from "../../src/protocol/response/response-scanner.ts";
import { randomFrom } from "../../test/lab/random.ts";
import { randomMessage } from "../../test/protocol/random-message.ts";
import { compare, cpuTime, median } from "./compare.ts";

const { delimiterStart, delimiterEnd } = DEFAULT_DELIMITERS;
const TALK = "The agent reads files, edits <b>some</b> of them, runs `npm test` and says what it does. Größe 10 KB. ";
/** Full of the delimiters' characters, so that the scanner cannot skip ahead by searching for a rare one. */
const SHOUTING =
  "for (const CHAR_SET of <Array<Map<SPAN, T>>>HEAP_ROOTS) EACH_PART >>= 1; // SEE ALSO <<< THE CHARTS_OF_ROPES ";
const MEGABYTE = 1_000_000;
const LARGEST = 100 * MEGABYTE;

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

function searchOnce(bytes: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(delimiterStart); at !== -1; at = bytes.indexOf(delimiterStart, at + 1)) found++;
  return found;
}

/** Decodes the text between two delimiters, and parses it if `alsoParse`. */
function searchAndDecode(bytes: Buffer, alsoParse: boolean): number {
  let length = 0;
  for (let at = bytes.indexOf(delimiterStart); at !== -1; at = bytes.indexOf(delimiterStart, at)) {
    const end = bytes.indexOf(delimiterEnd, at);
    const text = bytes.toString("utf8", at + delimiterStart.length, end);
    length += text.length;
    if (alsoParse) JSON.parse(text);
    at = end;
  }
  return length;
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

const share = (value: number | undefined): string => (value ?? Number.NaN).toFixed(2);

function showWithBlocks(name: string, bytes: Buffer): void {
  const small = cut(bytes, 4096);
  const large = cut(bytes, 65536);
  const rates = compare(
    {
      once: () => searchOnce(bytes),
      decoded: () => searchAndDecode(bytes, false),
      parsed: () => searchAndDecode(bytes, true),
      small: () => scan(small),
      large: () => scan(large),
    },
    Math.max(1, Math.round((20 * MEGABYTE) / bytes.length)),
  );
  console.log(
    `${name} with a block every 20 KB: ${share(rates.small)} of Buffer.indexOf in 4 KB chunks, ${share(rates.large)} in 64 KB chunks`,
  );
  console.log(
    `  all at once by Buffer.indexOf: ${share(rates.decoded)} with both delimiters and decoding, ${share(rates.parsed)} with JSON.parse too`,
  );
}

function showWithoutBlocks(name: string, talk: string): void {
  const bytes = Buffer.from(talk.repeat(Math.ceil(MEGABYTE / talk.length)));
  const small = cut(bytes, 4096);
  const large = cut(bytes, 65536);
  const rates = compare({ once: () => searchOnce(bytes), small: () => scan(small), large: () => scan(large) }, 20);
  console.log(`1 MB of ${name}: ${share(rates.small)} in 4 KB chunks, ${share(rates.large)} in 64 KB chunks`);
}

/**
 * Prints the speed at each size relative to 1 MB. The same 100 MB are read every time, by one scanner or by one per
 * part of that size, so that memory effects are equal.
 */
function showFlatness(bytes: Buffer): void {
  const sizes = [MEGABYTE, 10 * MEGABYTE, LARGEST];
  const parts = sizes.map((size) => cut(bytes.subarray(0, LARGEST), size));
  const chunks = parts.map((each) => each.map((part) => cut(part, 4096)));
  const candidates: Record<string, (index: number) => void> = {
    "the scanner": (index) => chunks[index]?.forEach(scan),
    "Buffer.indexOf": (index) => parts[index]?.forEach(searchOnce),
  };
  for (const [name, run] of Object.entries(candidates)) {
    const costs = sizes.map((): number[] => []);
    for (let round = 0; round < 8; round++)
      sizes.forEach((_size, index) => costs[index]?.push(cpuTime(() => run(index), 1)));
    const [one = 1, ten = 1, hundred = 1] = costs.map((each) => median(each.slice(1)));
    console.log(
      `${name}: speed at 10 MB and 100 MB as a share of that at 1 MB: ${share(one / ten)}, ${share(one / hundred)}`,
    );
  }
}

const largest = transcript(LARGEST);
showWithBlocks("1 MB", transcript(MEGABYTE));
showWithBlocks("100 MB", largest);
showWithoutBlocks("talk without a block", TALK);
showWithoutBlocks("text full of the signs of the delimiters", SHOUTING);
showFlatness(largest);
