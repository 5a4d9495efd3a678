// `identifyDelivery` derives the identity of a delivery from signed data only: an attacker who has seen a delivery can
// replay it with other headers, but cannot sign a new one.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface Signatures {
  /** `X-Hub-Signature-256`: signs the body. */
  hub: string | undefined;
  /** `X-Tutti-Signature`: signs the time, an optional id and the body. */
  tutti: string | undefined;
}

/** `TOLERANCE_MS` between the time in the signature and the server's clock includes the transit. */
const TOLERANCE_MS = 5 * 60_000;

/** Returns null if the signature is wrong or its time is out of `TOLERANCE_MS`. */
export function identifyDelivery(
  secret: string,
  { hub, tutti }: Signatures,
  body: Uint8Array,
  now: number,
): string | null {
  const hash = createHash("sha256").update(body).digest("hex");
  // If the stronger signature is present, only it counts: no fallback to the weaker one.
  if (tutti === undefined) {
    const [, given = ""] = /^sha256=([0-9a-f]{64})$/.exec(hub ?? "") ?? [];
    return isHmac(given, secret, "", body) ? `body/${hash}` : null;
  }
  const [, sent = "", id = "", given = ""] =
    /^t=(\d{1,12}),(?:id=([A-Za-z0-9_-]{1,100}),)?v1=([0-9a-f]{64})$/.exec(tutti) ?? [];
  const isSigned = isHmac(given, secret, `${sent}.${id}.`, body);
  if (!isSigned || Math.abs(now - Number(sent) * 1000) > TOLERANCE_MS) return null;
  return id === "" ? `sent/${sent}/${hash}` : `id/${id}`;
}

/** Compares in constant time. A malformed signature is compared too, as zeros. */
function isHmac(given: string, secret: string, prefix: string, body: Uint8Array): boolean {
  const expected = createHmac("sha256", secret).update(prefix).update(body).digest();
  const bytes = Buffer.alloc(expected.length);
  bytes.write(given, "hex");
  return timingSafeEqual(bytes, expected);
}
