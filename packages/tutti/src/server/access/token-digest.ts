import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Digests have a fixed length, which `timingSafeEqual` needs. */
export const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

export const isSame = (one: Buffer, other: Buffer): boolean => timingSafeEqual(one, other);

/** The cookie must not be the token itself, because browsers send cookies to every port of a host. */
export const cookieOf = (token: string): string =>
  createHmac("sha256", token).update("tutti cookie").digest("base64url");
