// `postWebhook` connects only to the checked address: no redirects, no proxy, no keep-alive.
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./address-rules.ts";
import { checkedLookup, internalAddress, RefusedAddress } from "./checked-lookup.ts";
import type { Delivery } from "./target.ts";

interface PostOptions {
  url: URL;
  body: string;
  headers: Record<string, string>;
  allowInternal: boolean;
  /** Wall-clock time, because `retry-after` may be a date. */
  now: number;
  signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
/** Characters of a response that `readStart` reads; the first `SHOWN` of them are displayed. */
const LONGEST_ANSWER = 16_384;
const SHOWN = 200;
/** Parts of a URL that are shorter than `SECRET_LENGTH` are taken for ordinary words. */
const SECRET_LENGTH = 8;
/** Limits `retry-after`. */
const LONGEST_WAIT_MS = 300_000;

export async function postWebhook(options: PostOptions): Promise<Delivery> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await send(options, AbortSignal.any([options.signal, timeout]));
    // The status counts even if the body breaks off.
    const text = await readStart(response).catch(() => "");
    return judge(response, withoutAddress(text, options.url), options.now);
  } catch (error) {
    if (error instanceof RefusedAddress) return { ok: false, detail: error.message };
    const reason = timeout.aborted ? `no response within ${TIMEOUT_MS / 1000} s` : reasonOf(error);
    return { ok: false, detail: reason, again: { afterMs: 0 } };
  }
}

function send({ url, body, headers, allowInternal }: PostOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replaceAll(/[[\]]/g, "");
  // Node does not call `checkedLookup` for a literal IP address, so it is checked here.
  if (!allowInternal && isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(internalAddress(host));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const outgoing = request(url, {
    method: "POST",
    agent: false,
    signal,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
      "user-agent": "tutti",
      ...headers,
    },
    ...(allowInternal ? {} : { lookup: checkedLookup }),
  });
  outgoing.on("response", resolve).on("error", reject);
  // Without an `upgrade` handler, Node emits neither `response` nor `error` for status 101.
  outgoing.on("upgrade", (response, socket) => {
    socket.destroy();
    resolve(response);
  });
  outgoing.end(body);
  return promise;
}

async function readStart(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const piece of response) {
    text += String(piece);
    // `break` closes the connection.
    if (text.length > LONGEST_ANSWER) break;
  }
  return text;
}

/** The response may echo the path and query, which act as the password of the webhook. */
function withoutAddress(response: string, { pathname, search }: URL): string {
  const long = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= SECRET_LENGTH);
  const whole = [pathname + search, pathname].filter((part) => part.length > 1);
  const spelled = [...whole, ...long].flatMap((part) => [part, decoded(part)]);
  return spelled.reduce((text, part) => text.replaceAll(part, "…"), response);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function judge({ statusCode = 0, headers }: IncomingMessage, text: string, now: number): Delivery {
  if (statusCode >= 200 && statusCode < 300) return { ok: true, detail: `answered ${statusCode}` };
  if (statusCode >= 300 && statusCode < 400) {
    return { ok: false, detail: `answered ${statusCode}; redirects are not followed` };
  }
  const excerpt = text
    .slice(0, SHOWN)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  const detail = `answered ${statusCode}${excerpt === "" ? "" : `: ${excerpt}`}`;
  const canRetry = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  return { ok: false, detail, ...(canRetry ? { again: { afterMs: waitOf(headers["retry-after"], now) } } : {}) };
}

/** `retryAfter` holds seconds or a date; the result is in milliseconds. */
function waitOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}

/** Node tries every address of a name; an `AggregateError` holds the reason of each. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
