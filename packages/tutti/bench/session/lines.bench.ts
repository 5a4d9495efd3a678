// Measures how fast an agent's lines are processed: read from the file, searched for secrets, decoded and emitted. The
// baseline is JSON.parse on the same lines, the unavoidable minimum. It also shows the parts, and compares the search
// for secrets with a search for one of them in the same bytes.
// Run: npm run bench -- session/lines
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JsonLinesDecoder } from "../../src/session/drivers/json-lines.ts";
import { createSecrets } from "../../src/session/secrets/find-secrets.ts";
import { MaskStream } from "../../src/session/secrets/mask.ts";
import { SessionReader } from "../../src/session/keeper/read-session.ts";
import { compare, cpuTime, median } from "../protocol/compare.ts";

const LINES = 20_000;
const CHUNK = 256 * 1024;
const VALUES = Array.from({ length: 10 }, (_, i) => `value-${i}-of-a-variable-${"abcdefgh".repeat(3)}${i}`);

const TALK =
  "I read src/session/keeper/keeper.ts and changed 3 lines of it; `npm test` says 12 passed.\nNow the next one. ";
const kinds = [
  (i: number) => ({ type: "assistant", text: TALK.repeat(1 + (i % 4)) }),
  (i: number) => ({
    type: "tool",
    name: "Edit",
    input: { file_path: `src/file-${i}.ts`, old_string: TALK, new_string: TALK },
  }),
  (i: number) => ({ type: "assistant", text: TALK.slice(0, 10 + (i % 60)), partial: true }),
  (i: number) => ({ type: "usage", inputTokens: i, outputTokens: i % 100 }),
];
const lines = Array.from({ length: LINES }, (_, i) => JSON.stringify(kinds[i % kinds.length]!(i)));
const bytes = Buffer.from(`${lines.join("\n")}\n`);
const secrets = createSecrets(VALUES);

const folder = mkdtempSync(join(tmpdir(), "tutti-lines-"));
mkdirSync(join(folder, "requests"));
writeFileSync(join(folder, "output.log"), bytes);

function chunks(use: (chunk: Buffer) => unknown): void {
  for (let at = 0; at < bytes.length; at += CHUNK) use(bytes.subarray(at, at + CHUNK));
}

function parse(): number {
  let members = 0;
  for (const line of bytes.toString("utf8").split("\n"))
    if (line !== "") members += Object.keys(JSON.parse(line) as object).length;
  return members;
}

function decode(): number {
  const decoder = new JsonLinesDecoder();
  let emitted = 0;
  chunks((chunk) => (emitted += decoder.push(chunk).length));
  return emitted;
}

function mask(values = secrets): void {
  const stream = new MaskStream(values);
  chunks((chunk) => stream.push(chunk));
  stream.end();
}

function read(): number {
  const reader = new SessionReader(folder, "stream", () => new JsonLinesDecoder(), { secrets });
  let emitted = 0;
  for (const signal of reader.read()) if (signal) emitted += 1;
  return emitted;
}

if (read() !== LINES) throw new Error("not every line was emitted");
const rates = compare({ "JSON.parse": parse, decoded: decode, masked: () => mask(), read }, 3);
const seconds = median(Array.from({ length: 5 }, () => cpuTime(read, 1))) / 1e6;
const share = (value: number): string => value.toFixed(2);
console.log(
  `${LINES} lines of ${Math.round(bytes.length / LINES)} bytes, ${VALUES.length} known secrets in all their forms`,
);
console.log(
  `as a share of JSON.parse: ${share(rates["decoded"]!)} decoded, ${share(rates["masked"]!)} searched for secrets, ` +
    `${share(rates["read"]!)} read, searched, decoded and emitted`,
);
console.log(`${Math.round(LINES / seconds)} lines, or ${Math.round(bytes.length / seconds / 1e6)} MB, per CPU second`);

function sumOf(all: Buffer): number {
  let sum = 0;
  for (let at = 0; at < all.length; at++) sum += all[at]!;
  return sum;
}

const few = createSecrets([]);
const plain = compare(
  {
    "one byte after the other": () => sumOf(bytes),
    "one value": () => bytes.includes(VALUES[0]!),
    shapes: () => mask(few),
    all: () => mask(),
  },
  3,
);
console.log(
  `the search as a share of a plain sum of the bytes: ${share(plain["shapes"]!)} for shapes alone, ${share(plain["all"]!)} ` +
    `with ${VALUES.length} known values; Buffer.includes for one value: ${share(plain["one value"]!)}`,
);
rmSync(folder, { recursive: true });
