// `createRequestListener` connects the application of `createApp` to Node's HTTP server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { UNKNOWN_HOST } from "./access/access.ts";
import { createApp } from "./app.ts";
import { encodeError } from "./encode-error.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { TuttiError } from "../schema/error.ts";

export type HttpListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

// `overrideGlobalObjects: false` keeps the global Request and Response of a program that embeds the server.
export const createRequestListener = (parts: Parameters<typeof createApp>[0]): HttpListener =>
  getRequestListener(createApp(parts).fetch, { overrideGlobalObjects: false, errorHandler: answerUnreadable });

/** Answers requests that fail before Hono: a `RequestError` means that the Host cannot be part of a URL. */
function answerUnreadable(error: unknown): Response {
  const refusal = new TuttiError("forbidden", UNKNOWN_HOST);
  const { status, body } = encodeError(error instanceof RequestError ? refusal : error);
  return Response.json(body, { status, headers: { ...SECURITY_HEADERS, "Cache-Control": "no-store" } });
}
