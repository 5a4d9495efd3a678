// Access control: section 7 of the contract as a pure check of a request's head. Pages, API requests and upgrades all use
// the same `Access`, so no entry point can skip a rule.
//
// Invariants
// 1. `checkOrigin` rejects a foreign Host or Origin before anything else, with or without a token.
// 2. Secrets are compared by digest and in constant time.
// 3. Browsers attach cookies on their own, so a request with a cookie must not come from another site (`Sec-Fetch-Site`),
//    and a write or an upgrade needs an `Origin`.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Holder } from "./holder.ts";
import type { NamedTokens } from "./named-tokens.ts";
import { cookieOf, digestOf, isSame } from "./token-digest.ts";
import { TuttiError } from "../../schema/error.ts";

/** The parts of a request's head that `Access` reads. */
export interface AccessRequest {
  method: string;
  upgrade: boolean;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. `headers` keeps only the first `Host`. */
  rawHeaders: readonly string[];
  /** `url` is the request target, which may be an absolute URL. */
  url: string;
}

export const accessRequest = (request: IncomingMessage, upgrade: boolean): AccessRequest => ({
  method: request.method ?? "GET",
  upgrade,
  headers: request.headers,
  rawHeaders: request.rawHeaders,
  url: request.url ?? "/",
});

interface AccessOptions {
  /** The server's own `token` has the role `admin`. */
  token: string;
  tokens: NamedTokens;
  /** `host` is the address that the server listens on. */
  host: string;
  port: number;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);

export const UNKNOWN_HOST =
  "The Host header does not name this server. Use the address that the server printed when it started.";

/** `OWNER` holds the server's own token, or uses its Unix socket. */
export const OWNER: Holder = { name: null, role: "admin", id: "" };

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** `socketAccess` implements `RequestAccess` for a Unix socket. */
export type RequestAccess = Pick<Access, "checkOrigin" | "checkToken" | "holderOf" | "setCookie">;

export class Access {
  readonly #token: string;
  #digests: { token: Buffer; cookie: Buffer } | null = null;
  readonly #tokens: NamedTokens;
  readonly #cookieName: string;
  readonly #host: string;
  readonly #port: number;

  constructor({ token, tokens, host, port }: AccessOptions) {
    this.#token = token;
    this.#tokens = tokens;
    this.#cookieName = `tutti_${port}`;
    this.#host = host;
    this.#port = port;
  }

  /** Computed for the first request, because a server that starts would load Node's `crypto` for it. */
  get #own(): { token: Buffer; cookie: Buffer } {
    const token = this.#token;
    return (this.#digests ??= { token: digestOf(token), cookie: digestOf(cookieOf(token)) });
  }

  /**
   * Throws `forbidden` if `Host`, or the host in `url`, is not an address of this server or `Origin` is another site.
   */
  checkOrigin({ headers, rawHeaders, url }: AccessRequest): void {
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host");
    if (hosts.length > 1)
      throw new TuttiError("invalid_input", "The request has several Host headers. Send exactly one.");
    const host = headers.host?.toLowerCase() ?? "";
    const target = url.startsWith("/") ? host : (URL.parse(url)?.host ?? "");
    if (!this.#isOwnHost(host) || !this.#isOwnHost(target)) throw new TuttiError("forbidden", UNKNOWN_HOST);
    const { origin } = headers;
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) {
      throw new TuttiError(
        "forbidden",
        "Requests from other origins are rejected. Open the dashboard at the server's own address.",
      );
    }
  }

  /** Returns the holder of the request's token or cookie and throws if there is none. Call `checkOrigin` first. */
  checkToken({ method, upgrade, headers }: AccessRequest): Holder {
    const { authorization, cookie, origin } = headers;
    if (authorization !== undefined) {
      const [, bearer] = /^Bearer +(\S.*)$/i.exec(authorization) ?? [];
      const bearerHolder = bearer === undefined ? null : this.holderOf(bearer);
      if (bearerHolder) return bearerHolder;
      throw new TuttiError(
        "unauthorized",
        "The token is wrong, expired or revoked. Use the server's token or create a new one.",
      );
    }
    const values = cookieValues(cookie ?? "", this.#cookieName);
    const holder = values.map((value) => this.#holderOfCookie(value)).find((found) => found !== null);
    if (!holder) {
      throw new TuttiError(
        "unauthorized",
        "The request has no token. Open the URL that the server printed when it started.",
      );
    }
    const writes = upgrade || (method !== "GET" && method !== "HEAD");
    if (writes && origin === undefined) {
      throw new TuttiError(
        "forbidden",
        "Writes and upgrades with a cookie need an Origin header. Send a bearer token instead.",
      );
    }
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new TuttiError(
        "forbidden",
        "Requests that other sites make with the cookie are rejected. Send a bearer token.",
      );
    }
    return holder;
  }

  /** `holderOf` returns null for an unknown token. */
  holderOf(token: string): Holder | null {
    return isSame(digestOf(token), this.#own.token) ? OWNER : this.#tokens.find(token);
  }

  #holderOfCookie(value: string): Holder | null {
    return isSame(digestOf(value), this.#own.cookie) ? OWNER : this.#tokens.findByCookie(value);
  }

  setCookie(token: string): string {
    const isOwn = this.holderOf(token) === OWNER;
    const value = isOwn ? cookieOf(token) : this.#tokens.cookieFor(token);
    return `${this.#cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /**
   * Defends against DNS rebinding: a page on an attacker's name that resolves to this machine must not count as ours.
   * An IP address cannot be rebound, so a server that listens on `EVERY_ADDRESS` accepts any IP address as `Host`.
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

/** A server on another port of the same host can set a second cookie with this name, so `cookieValues` returns all. */
function cookieValues(header: string, name: string): string[] {
  const pairs = header.split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
