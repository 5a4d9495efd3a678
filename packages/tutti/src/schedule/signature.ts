// Whether somebody who knows the secret has sent a delivery, and what the delivery is known by. Only what was signed
// identifies it: whoever has seen one can send it again under any other name, but cannot sign another.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface Signatures {
  /** `X-Hub-Signature-256`: the body alone. */
  hub: string | undefined;
  /** `X-Tutti-Signature`: when it was sent, a name for it, and the body. */
  tutti: string | undefined;
}

/** How far the clocks of both sides may differ, the way of the delivery included. */
const TOLERANCE_MS = 5 * 60_000;

/** What the delivery is known by, or null if it is not signed with this secret, or too old. */
export function identifyDelivery(
  secret: string,
  { hub, tutti }: Signatures,
  body: Uint8Array,
  now: number,
): string | null {
  const hash = createHash("sha256").update(body).digest("hex");
  // The stronger form counts where it is given; there is no falling back to the weaker one.
  if (tutti === undefined) {
    const [, given = ""] = /^sha256=([0-9a-f]{64})$/.exec(hub ?? "") ?? [];
    return isHmac(given, secret, "", body) ? `body/${hash}` : null;
  }
  const [, sent = "", id = "", given = ""] =
    /^t=(\d{1,12}),(?:id=([A-Za-z0-9_-]{1,100}),)?v1=([0-9a-f]{64})$/.exec(tutti) ?? [];
  const isRight = isHmac(given, secret, `${sent}.${id}.`, body);
  if (!isRight || Math.abs(now - Number(sent) * 1000) > TOLERANCE_MS) return null;
  return id === "" ? `sent/${sent}/${hash}` : `id/${id}`;
}

/** Compared in constant time; what is no signature at all is compared too, and differs. */
function isHmac(given: string, secret: string, before: string, body: Uint8Array): boolean {
  const right = createHmac("sha256", secret).update(before).update(body).digest();
  const bytes = Buffer.alloc(right.length);
  bytes.write(given, "hex");
  return timingSafeEqual(bytes, right);
}
