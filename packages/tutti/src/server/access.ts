// Who may ask: contract section 7 as one pure judgement over a request's head. The same judgement is made for pages, for
// the API and for upgrades, so no way in can forget a part of it.
//
// Invariants
// 1. A foreign Host or Origin is refused before anything else is looked at, with or without a token.
// 2. A secret is compared in constant time, and never with anything but its digest.
// 3. A cookie is sent by the browser on its own, so it counts only where the browser also says who made it ask.
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { Holder } from "./holder.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { cookieOf, digestOf, isSame } from "./token-digest.ts";
import { TuttiError } from "../schema/error.ts";

/** The head of a request, as far as access depends on it. */
export interface Asking {
  method: string;
  upgrade: boolean;
  headers: IncomingHttpHeaders;
}

export interface AccessOptions {
  /** The server's own, which may do everything. */
  token: string;
  tokens: NamedTokens;
  /** The address the server listens on. */
  host: string;
  port: number;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);

const OWNER: Holder = { name: null, role: "admin", id: "" };

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

export class Access {
  readonly #token: Buffer;
  readonly #cookie: Buffer;
  readonly #tokens: NamedTokens;
  readonly #cookieName: string;
  readonly #host: string;
  readonly #port: number;

  constructor({ token, tokens, host, port }: AccessOptions) {
    this.#token = digestOf(token);
    this.#cookie = digestOf(cookieOf(token));
    this.#tokens = tokens;
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

  /** Who asks. Throws the refusal of a request without a valid token or cookie. Asked after `checkOrigin`. */
  checkToken({ method, upgrade, headers }: Asking): Holder {
    const { authorization, cookie, origin } = headers;
    if (authorization !== undefined) {
      const [, bearer] = /^Bearer +(\S.*)$/i.exec(authorization) ?? [];
      const bearing = bearer === undefined ? null : this.holderOf(bearer);
      if (bearing) return bearing;
      throw new TuttiError("unauthorized", "the token is not valid: it is wrong, has expired or was revoked");
    }
    const values = cookieValues(cookie ?? "", this.#cookieName);
    const holder = values.map((value) => this.#holderOfCookie(value)).find((found) => found !== null);
    if (!holder) {
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
    return holder;
  }

  /** Null if it is nobody's token. */
  holderOf(token: string): Holder | null {
    return isSame(digestOf(token), this.#token) ? OWNER : this.#tokens.find(token);
  }

  #holderOfCookie(value: string): Holder | null {
    return isSame(digestOf(value), this.#cookie) ? OWNER : this.#tokens.findByCookie(value);
  }

  /** The header that lets the browser of a token's holder in from now on. */
  setCookie(token: string): string {
    const isOwn = this.holderOf(token) === OWNER;
    const value = isOwn ? cookieOf(token) : this.#tokens.cookieFor(token);
    return `${this.#cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict`;
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

/** All of them: a server on another port of the same host can set a second cookie of the same name. */
function cookieValues(header: string, name: string): string[] {
  const pairs = header.split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
