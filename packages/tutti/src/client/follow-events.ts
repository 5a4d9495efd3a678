// `followEvents`: live events over a WebSocket that reconnects.
//
// Invariants
// 1. `onFrame` receives each frame once and in the order of `seq`, also across reconnects: a reconnect continues after
//    the last frame, and duplicates are dropped.
// 2. Only the caller ends it. While the server is away it reconnects, with the exponential back-off of `backOffMs`.
import type { Frame } from "./frame.ts";

/** The part of a WebSocket that `followEvents` uses; browsers and Node provide one. */
interface EventSocket {
  addEventListener: (
    type: "open" | "message" | "close" | "error",
    listener: (event: { data?: unknown }) => void,
  ) => void;
  close: () => void;
}

export type Connection = "connecting" | "live" | "waiting";

export interface FollowOptions {
  baseUrl: string;
  token?: string;
  run?: string;
  types?: readonly string[];
  /** Starts after this `seq`; without it, with the next event. */
  after?: number;
  /** Without `after`: starts with the last `tail` matching events. */
  tail?: number;
  onFrame: (frame: Frame) => void;
  onConnection?: (connection: Connection) => void;
  open?: (url: string, token: string | undefined) => EventSocket;
  /** Delay before a reconnect, `doubling` by default. `tries` counts from 1 since the last open connection. */
  backOffMs?: (tries: number) => number;
}

/** Returns a function that stops following. */
export function followEvents(options: FollowOptions): () => void {
  const { token, onFrame, onConnection, open = openSocket, backOffMs = doubling } = options;
  let lastSeq = options.after;
  let tries = 0;
  let socket: EventSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  function connect(): void {
    onConnection?.("connecting");
    const current = open(address(options, lastSeq), token);
    socket = current;
    current.addEventListener("open", () => {
      tries = 0;
      if (!isStopped) onConnection?.("live");
    });
    current.addEventListener("message", ({ data }) => {
      const frame = readFrame(data);
      if (isStopped || socket !== current || frame === null || frame.seq <= (lastSeq ?? 0)) return;
      lastSeq = frame.seq;
      onFrame(frame);
    });
    // A WebSocket always emits `close` after `error`.
    current.addEventListener("close", () => {
      if (isStopped || socket !== current) return;
      socket = null;
      onConnection?.("waiting");
      timer = setTimeout(connect, backOffMs(++tries));
    });
  }

  connect();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    socket?.close();
  };
}

/** `after` wins over `tail`: a reconnect continues from the last event it received. */
function address({ baseUrl, run, types, tail }: FollowOptions, after: number | undefined): string {
  const url = new URL("/api/events", baseUrl);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (after !== undefined) url.searchParams.set("after", String(after));
  else if (tail !== undefined) url.searchParams.set("tail", String(tail));
  if (types !== undefined) url.searchParams.set("types", types.join(","));
  if (run !== undefined) url.searchParams.set("run", run);
  return url.href;
}

function readFrame(data: unknown): Frame | null {
  const value: unknown = typeof data === "string" ? JSON.parse(data) : null;
  return typeof (value as Frame | null)?.seq === "number" ? (value as Frame) : null;
}

const doubling = (tries: number): number => Math.min(250 * 2 ** (tries - 1), 5000);

/** The WebSocket of Node accepts headers; that of a browser does not, and sends the cookie instead. */
function openSocket(url: string, token: string | undefined): EventSocket {
  const Socket = WebSocket as unknown as new (url: string, options?: object) => EventSocket;
  return token === undefined ? new Socket(url) : new Socket(url, { headers: { authorization: `Bearer ${token}` } });
}
