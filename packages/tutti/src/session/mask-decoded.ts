// What an agent's line means, without the secrets that only show once its escapes are resolved.
import type { Decoded } from "./driver.ts";
import type { Secrets } from "./find-secrets.ts";
import { maskText, maskValue } from "./mask.ts";

const ESCAPES = [Buffer.from("\\u"), Buffer.from("\\/")];

/** Only these escapes can be written without need; all others are known to the search. One may be cut at the end. */
export const mayHide = (bytes: Buffer): boolean =>
  bytes.at(-1) === 0x5c || ESCAPES.some((escape) => bytes.includes(escape));

/** Most of what is told is text; the rest may have texts anywhere. */
export function maskDecoded(secrets: Secrets, decoded: Decoded): Decoded {
  if (decoded.type === "usage") return decoded;
  if (decoded.type !== "text" && decoded.type !== "partial") return maskValue(secrets, decoded);
  const text = maskText(secrets, decoded.text);
  return text === decoded.text ? decoded : { ...decoded, text };
}
