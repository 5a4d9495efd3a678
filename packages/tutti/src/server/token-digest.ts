// What is kept and compared in place of a token.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Digests are of one length, which the comparison in constant time needs. */
export const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

export const isSame = (one: Buffer, other: Buffer): boolean => timingSafeEqual(one, other);

/** Browsers send cookies to every port of a host, so a cookie must not be the token itself. */
export const cookieOf = (token: string): string =>
  createHmac("sha256", token).update("tutti cookie").digest("base64url");
