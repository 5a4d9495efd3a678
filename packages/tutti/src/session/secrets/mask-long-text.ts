import { CONTEXT_BYTES, type Secrets } from "./find-secrets.ts";
import { decodeEscapes, hasEscapes, maskRegion, maskText } from "./mask.ts";

/** In characters and in bytes. */
const STEP = 128 * 1024;

/** Like `maskText`, for a text of any length. Yields after every step. */
export function* maskLongText(secrets: Secrets, text: string): Generator<null, string> {
  if (text.length <= STEP) return maskText(secrets, text);
  const masked = yield* maskOnce(secrets, text);
  if (!hasEscapes(masked)) return masked;
  const decoded = yield* decodeInSteps(masked);
  const again = yield* maskOnce(secrets, decoded);
  return again === decoded ? masked : again;
}

/** `maskOnce` finds everything before it masks, because the search needs the context as it was. */
function* maskOnce(secrets: Secrets, text: string): Generator<null, string> {
  const bytes = Buffer.from(text);
  const found: number[] = [];
  for (let settled = 0, size = STEP; settled < bytes.length;) {
    const from = Math.max(0, settled - CONTEXT_BYTES);
    const end = Math.min(bytes.length, settled + size);
    const window = bytes.subarray(from, end);
    const { regions, settled: next } = secrets.find(window, settled - from, end === bytes.length);
    for (const at of regions) found.push(from + at);
    // An undecided secret may be longer than one `STEP`.
    size = from + next === settled ? size * 2 : STEP;
    settled = from + next;
    yield null;
  }
  if (found.length === 0) return text;
  for (let i = 0; i < found.length; i += 2) maskRegion(bytes, found[i]!, found[i + 1]!);
  return bytes.toString("utf8");
}

/** `decodeInSteps` splits before a backslash that follows another character, which is never within an escape. */
function* decodeInSteps(text: string): Generator<null, string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    START_OF_ESCAPE.lastIndex = from + STEP;
    const end = START_OF_ESCAPE.exec(text)?.index ?? text.length - 1;
    pieces.push(decodeEscapes(text.slice(from, end + 1)));
    from = end + 1;
    yield null;
  }
  return pieces.join("");
}

const START_OF_ESCAPE = /[^\\](?=\\)/g;
