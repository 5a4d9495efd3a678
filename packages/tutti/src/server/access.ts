// Who may ask: contract section 7 as one pure judgement over a request's head. The same judgement is made for pages, for
// the API and for upgrades, so no way in can forget a part of it.
//
// Invariants
// 1. A foreign Host or Origin is refused before anything else is looked at, with or without a token.
// 2. A secret is compared in constant time, and never with anything but its digest.
// 3. A cookie is sent by the browser on its own, so it counts only where the browser also says who made it ask.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { TuttiError } from "../schema/error.ts";

/** The head of a request, as far as access depends on it. */
export interface Asking {
  method: string;
  upgrade: boolean;
  headers: IncomingHttpHeaders;
}

export interface AccessOptions {
  token: string;
  /** The address the server listens on. */
  host: string;
  port: number;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

export class Access {
  readonly #token: Buffer;
  readonly #cookie: string;
  readonly #cookieDigest: Buffer;
  readonly #cookieName: string;
  readonly #host: string;
  readonly #port: number;

  constructor({ token, host, port }: AccessOptions) {
    this.#token = digest(token);
    // Browsers send cookies to every port of a host, so the cookie must not be the token itself.
    this.#cookie = createHmac("sha256", token).update("tutti cookie").digest("base64url");
    this.#cookieDigest = digest(this.#cookie);
    this.#cookieName = `tutti_${port}`;
    this.#host = host;
    this.#port = port;
  }

  /** Throws the refusal of a request that comes by a foreign name or from a foreign page. */
  checkOrigin({ headers }: Asking): void {
    const host = headers.host?.toLowerCase() ?? "";
    if (!this.#isOwnHost(host)) throw new TuttiError("forbidden", "this server does not answer to that Host");
    const { origin } = headers;
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) {
      throw new TuttiError("forbidden", "requests from other origins are refused");
    }
  }

  /** Throws the refusal of a request without a valid token or cookie. Asked after `checkOrigin`. */
  checkToken({ method, upgrade, headers }: Asking): void {
    const { authorization, cookie, origin } = headers;
    if (authorization !== undefined) {
      const [, bearer] = /^Bearer +(\S.*)$/i.exec(authorization) ?? [];
      if (bearer !== undefined && this.isToken(bearer)) return;
      throw new TuttiError("unauthorized", "the token is not valid");
    }
    const values = cookieValues(cookie ?? "", this.#cookieName);
    if (!values.some((value) => timingSafeEqual(digest(value), this.#cookieDigest))) {
      throw new TuttiError("unauthorized", "a token is needed: open the URL that was printed at the start");
    }
    const writes = upgrade || (method !== "GET" && method !== "HEAD");
    if (writes && origin === undefined) {
      throw new TuttiError("forbidden", "with a cookie, writes and upgrades need an Origin");
    }
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new TuttiError("forbidden", "with a cookie, requests made by other sites are refused");
    }
  }

  isToken(text: string): boolean {
    return timingSafeEqual(digest(text), this.#token);
  }

  /** The header that lets a browser in from now on. */
  get setCookie(): string {
    return `${this.#cookieName}=${this.#cookie}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /**
   * A page on a name that an attacker's DNS points here must not be taken for our own. An address is never a name, so
   * where the server listens on every address of the machine, any address will do.
   */
  #isOwnHost(host: string): boolean {
    const [, name = "", port = "80"] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
    if (Number(port) !== this.#port) return false;
    if (LOOPBACK_NAMES.includes(name)) return true;
    const bare = name.replace(/^\[(.*)\]$/, "$1");
    if (EVERY_ADDRESS.has(this.#host)) return isIP(bare) !== 0;
    return bare === this.#host.toLowerCase();
  }
}

/** Digests are of one length, which the comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** All of them: a server on another port of the same host can set a second cookie of the same name. */
function cookieValues(header: string, name: string): string[] {
  const pairs = header.split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
