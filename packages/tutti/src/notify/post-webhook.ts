// One request to a webhook. It goes to the address that was checked and nowhere else: redirects are not followed, no proxy
// is asked, and no connection is kept for another time.
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./address-rules.ts";
import { checkedLookup, internalAddress, RefusedAddress } from "./checked-lookup.ts";
import type { Delivery } from "./target.ts";

export interface PostOptions {
  url: URL;
  body: string;
  headers: Record<string, string>;
  allowInternal: boolean;
  /** Wall-clock time; an answer may name a moment to wait for. */
  now: number;
  signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
/** As much of an answer as is read, and as much of that as is shown. */
const LONGEST_ANSWER = 16_384;
const SHOWN = 200;
/** Shorter parts of an address are words. */
const SECRET_LENGTH = 8;
/** Whoever asks for more patience than this does not get it. */
const LONGEST_WAIT_MS = 300_000;

export async function postWebhook(options: PostOptions): Promise<Delivery> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await send(options, AbortSignal.any([options.signal, late]));
    // The status counts, also if the words after it do not come to an end.
    const said = await beginningOf(response).catch(() => "");
    return judge(response, withoutAddress(said, options.url), options.now);
  } catch (error) {
    if (error instanceof RefusedAddress) return { ok: false, detail: error.message };
    const why = late.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(error);
    return { ok: false, detail: why, again: { afterMs: 0 } };
  }
}

function send({ url, body, headers, allowInternal }: PostOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replaceAll(/[[\]]/g, "");
  // An address in numbers is never looked up.
  if (!allowInternal && isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(internalAddress(host));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const asking = request(url, {
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
  asking.on("response", resolve).on("error", reject);
  // Unless somebody hears of it, an answer that changes the protocol is followed by nothing at all, not even an error.
  asking.on("upgrade", (response, socket) => {
    socket.destroy();
    resolve(response);
  });
  asking.end(body);
  return promise;
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let said = "";
  response.setEncoding("utf8");
  for await (const piece of response) {
    said += String(piece);
    // Leaving the loop ends the connection.
    if (said.length > LONGEST_ANSWER) break;
  }
  return said;
}

/** Servers like to repeat what they were asked for, and whoever knows that can send there too. */
function withoutAddress(said: string, { pathname, search }: URL): string {
  const long = `${pathname}${search}`.split(/[/?&=]/).filter((part) => part.length >= SECRET_LENGTH);
  const whole = [pathname + search, pathname].filter((part) => part.length > 1);
  const spelled = [...whole, ...long].flatMap((part) => [part, decoded(part)]);
  return spelled.reduce((text, part) => text.replaceAll(part, "…"), said);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function judge({ statusCode = 0, headers }: IncomingMessage, said: string, now: number): Delivery {
  if (statusCode >= 200 && statusCode < 300) return { ok: true, detail: `answered ${statusCode}` };
  if (statusCode >= 300 && statusCode < 400) {
    return { ok: false, detail: `answered ${statusCode}; redirects are not followed` };
  }
  const words = said
    .slice(0, SHOWN)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  const detail = `answered ${statusCode}${words === "" ? "" : `: ${words}`}`;
  const mayPass = statusCode === 408 || statusCode === 429 || statusCode >= 500;
  return { ok: false, detail, ...(mayPass ? { again: { afterMs: waitOf(headers["retry-after"], now) } } : {}) };
}

/** Seconds, or a date. */
function waitOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}

/** Several addresses were tried if a name has several; each has its own reason. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
