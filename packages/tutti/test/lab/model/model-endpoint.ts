// A scripted model on loopback for real agent programs: the APIs of three vendors, one script.
//
// 1. The endpoint keeps no state between requests: the request contains everything the script needs. Any number of
//    sessions and sub-agents can share one endpoint.
// 2. Requests are recorded for assertions. Requests that the script cannot answer are recorded and rejected.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropic } from "./anthropic.ts";
import { faultFrame, type Dialect, type Frame } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import type { ModelRequest } from "./model-request.ts";
import { openai } from "./openai.ts";
import type { Step } from "./step.ts";

export type Script = (request: ModelRequest) => Step[] | Promise<Step[]>;

export interface ModelEndpoint {
  /** Without a trailing slash. */
  url: string;
  /** In order of arrival, without the `asides`. */
  requests: ModelRequest[];
  /** Minor requests of the programs, and unknown paths. */
  asides: string[];
  /** Errors that the script has thrown. A test of a successful run expects none. */
  problems: string[];
  requestsOf(session: string): ModelRequest[];
  close(): Promise<void>;
}

export async function startModel(script: Script): Promise<ModelEndpoint> {
  const requests: ModelRequest[] = [];
  const asides: string[] = [];
  const problems: string[] = [];
  let number = 0;

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(message.url ?? "/", "http://localhost").pathname;
    const body = await readJson(message);
    const dialect = message.method === "POST" ? dialectOf(path) : undefined;
    if (dialect === undefined || body === undefined) {
      asides.push(`${message.method} ${path}`);
      return sendJson(response, ...minorAnswer(message.method, path));
    }
    const asked = dialect.read(body, message.headers, path);
    const common = { vendor: dialect.vendor, headers: message.headers, body, abandoned: false };
    const request: ModelRequest = { ...asked, ...common, number: ++number };
    const streams = dialect === gemini ? path.includes(":stream") : (body as { stream?: boolean }).stream === true;
    const aside = dialect.aside?.(request);
    if (aside !== undefined) {
      asides.push(`${message.method} ${path}`);
      return send(response, dialect, { request, steps: aside, streams });
    }
    requests.push(request);
    response.on("close", () => (request.abandoned = !response.writableFinished));
    return send(response, dialect, { request, steps: await play(request), streams });
  }

  async function play(request: ModelRequest): Promise<Step[]> {
    try {
      return await script(request);
    } catch (error) {
      problems.push(String(error));
      return [{ kind: "fail", failure: { name: "badRequest", message: `the script failed: ${String(error)}` } }];
    }
  }

  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    asides,
    problems,
    requestsOf: (session) => requests.filter((request) => request.session === session),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith("/v1/messages")) return anthropic;
  if (path.endsWith("/responses")) return openai;
  return /:(streamGenerate|generate)Content$/.test(path) ? gemini : undefined;
}

/** Health checks, token counts and model lists. */
function minorAnswer(method: string | undefined, path: string): [status: number, body: object] {
  if (method === "HEAD" || path === "/") return [200, {}];
  if (path.endsWith("/count_tokens")) return [200, { input_tokens: 100 }];
  if (path.endsWith(":countTokens")) return [200, { totalTokens: 100 }];
  if (path.endsWith("/models")) return [200, { object: "list", data: [], models: [], has_more: false }];
  return [404, { type: "error", error: { type: "not_found_error", message: `no handler for ${path}` } }];
}

interface Answer {
  request: ModelRequest;
  steps: Step[];
  streams: boolean;
}

async function send(response: ServerResponse, dialect: Dialect, { request, steps, streams }: Answer): Promise<void> {
  const rest = [...steps];
  while (rest[0]?.kind === "wait") await sleep((rest.shift() as { ms: number }).ms);
  const first = rest[0];
  if (first?.kind === "hang") return;
  if (first?.kind === "fail") {
    const { status, headers, body } = dialect.failed(first.failure);
    return sendJson(response, status, body, headers);
  }
  if (!streams) return sendWhole(response, dialect, { request, steps: rest, streams });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const frame of dialect.stream(request, rest)) {
    if (await isEnd(response, frame)) return;
  }
  response.end();
}

/** After a broken stream some programs request the answer in one piece, which fails the same way. */
function sendWhole(response: ServerResponse, dialect: Dialect, { request, steps }: Answer): void {
  const fault = steps.map(faultFrame).find((frame) => typeof frame === "object" && "end" in frame);
  if (fault === undefined) sendJson(response, 200, dialect.whole(request, steps));
  else if (fault.end === "die") response.destroy();
}

/** Returns true if `frame` is the last one. */
async function isEnd(response: ServerResponse, frame: Frame): Promise<boolean> {
  if (response.destroyed) return true;
  if (typeof frame === "string") await written(response, frame);
  else if ("wait" in frame) await sleep(frame.wait);
  else if (frame.end === "die") response.destroy();
  else return true;
  return response.destroyed;
}

/** Resolves after the write, so that everything before a broken connection has been sent. */
const written = (response: ServerResponse, text: string): Promise<void> =>
  text === "" ? Promise.resolve() : new Promise((resolve) => response.write(text, () => resolve()));

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readJson(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
