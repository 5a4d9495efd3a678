import type { Decoded } from "../driver.ts";
import type { Secrets } from "./find-secrets.ts";
import { maskValue } from "./mask.ts";
import { maskLongText } from "./mask-long-text.ts";

const ESCAPES = [Buffer.from("\\u"), Buffer.from("\\/")];

/**
 * `mayHide` is true if an escape in `bytes` may hide a secret from the search. Only `\u` and `\/` can encode characters
 * that need no escape; `formsOf` covers all others. An escape may also be cut off at the end.
 */
export const mayHide = (bytes: Buffer): boolean =>
  bytes.at(-1) === 0x5c || ESCAPES.some((escape) => bytes.includes(escape));

/** `text` and `partial` are the common cases and need no recursion. All others are short. Yields between two steps. */
export function* maskDecoded(secrets: Secrets, decoded: Decoded): Generator<null, Decoded> {
  if (decoded.type === "usage") return decoded;
  if (decoded.type !== "text" && decoded.type !== "partial") return maskValue(secrets, decoded);
  const text = yield* maskLongText(secrets, decoded.text);
  return text === decoded.text ? decoded : { ...decoded, text };
}
