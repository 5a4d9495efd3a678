// A connection to one target of a debugger.
//
// Invariants
// 1. Every call settles: with an answer, at the end of the connection, or after CALL_MS.
// 2. A message larger than MAX_MESSAGE_BYTES closes the connection.
import { WebSocket, type RawData } from "ws";
import { parseRecord, recordOf, type Fields } from "../../json-fields.ts";

export interface DevTools {
  send(method: string, params?: object): Promise<Fields>;
  on(event: string, listener: (params: Fields) => void): void;
  /** Returns why the connection is closed; null while it is open. */
  lost(): string | null;
  close(): void;
}

const CONNECT_MS = 5000;
const CALL_MS = 30_000;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

interface OpenCall {
  resolve(result: Fields): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export async function openDevTools(url: string): Promise<DevTools> {
  const socket = new WebSocket(url, {
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: CONNECT_MS,
    perMessageDeflate: false,
  });
  const calls = new Map<number, OpenCall>();
  const listeners = new Map<string, (params: Fields) => void>();
  let count = 0;
  let lost: string | null = null;

  const lose = (reason: string): void => {
    lost ??= reason;
    socket.terminate();
    for (const call of calls.values()) {
      clearTimeout(call.timer);
      call.reject(new Error(lost));
    }
    calls.clear();
  };
  const onMessage = (data: RawData): void => {
    // With the default `binaryType`, messages arrive as one buffer.
    const message = parseRecord((data as Buffer).toString("utf8"));
    const call = typeof message["id"] === "number" ? calls.get(message["id"]) : undefined;
    if (call === undefined) {
      if (message["method"] === "Inspector.targetCrashed") return lose("the page crashed");
      if (typeof message["method"] === "string") listeners.get(message["method"])?.(recordOf(message["params"]));
      return;
    }
    calls.delete(message["id"] as number);
    clearTimeout(call.timer);
    if (message["error"] === undefined) call.resolve(recordOf(message["result"]));
    else call.reject(new Error(`the debugger rejected the call: ${String(recordOf(message["error"])["message"])}`));
  };

  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("message", onMessage);
  socket.on("error", (error) => lose(`the connection to the debugger failed: ${error.message}`));
  socket.on("close", () => lose("the page or its debugger was closed"));

  return {
    send(method, params = {}) {
      if (lost !== null) return Promise.reject(new Error(lost));
      const id = ++count;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          calls.delete(id);
          reject(new Error(`the page did not answer within ${CALL_MS} ms`));
        }, CALL_MS);
        calls.set(id, { resolve, reject, timer });
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    on: (event, listener) => void listeners.set(event, listener),
    lost: () => lost,
    close: () => lose("it was closed"),
  };
}
