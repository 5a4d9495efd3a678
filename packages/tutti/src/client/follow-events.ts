// Events as they happen, over a WebSocket that is opened again whenever it is lost.
//
// Invariants
// 1. Every frame is handed on once and in the order of `seq`, however often the connection is lost: each new one asks
//    for what comes after the last frame handed on, and what comes twice is dropped.
// 2. It ends only when it is told to. A server that is away is asked again, at first soon, then less and less often.
import type { Frame } from "./frame.ts";

/** What `followEvents` needs of a WebSocket; browsers and Node have one of their own. */
export interface EventSocket {
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
  /** Only this run's events. */
  run?: string;
  /** Only events of these types. */
  types?: readonly string[];
  /** Everything after this `seq`; without it everything from now on. */
  after?: number;
  /** Without `after`: first so many of the last events that match. */
  tail?: number;
  onFrame: (frame: Frame) => void;
  onConnection?: (connection: Connection) => void;
  open?: (url: string, token: string | undefined) => EventSocket;
  /** How long to wait before the given try, counted from 1 since the last time it worked. */
  backOffMs?: (tries: number) => number;
}

/** Begins to follow and returns the way out. */
export function followEvents(options: FollowOptions): () => void {
  const { token, onFrame, onConnection, open = openSocket, backOffMs = doubling } = options;
  let last = options.after;
  let tries = 0;
  let socket: EventSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;

  function connect(): void {
    onConnection?.("connecting");
    const current = open(address(options, last), token);
    socket = current;
    current.addEventListener("open", () => {
      tries = 0;
      if (!over) onConnection?.("live");
    });
    current.addEventListener("message", ({ data }) => {
      const frame = readFrame(data);
      if (over || socket !== current || frame === null || frame.seq <= (last ?? 0)) return;
      last = frame.seq;
      onFrame(frame);
    });
    // An error is always followed by a close, which is what matters.
    current.addEventListener("close", () => {
      if (over || socket !== current) return;
      socket = null;
      onConnection?.("waiting");
      timer = setTimeout(connect, backOffMs(++tries));
    });
  }

  connect();
  return () => {
    over = true;
    clearTimeout(timer);
    socket?.close();
  };
}

/** Whoever has come somewhere goes on from there, however it began. */
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

/** Node's own WebSocket takes headers; a browser's does not, and sends its cookie instead. */
function openSocket(url: string, token: string | undefined): EventSocket {
  const Socket = WebSocket as unknown as new (url: string, options?: object) => EventSocket;
  return token === undefined ? new Socket(url) : new Socket(url, { headers: { authorization: `Bearer ${token}` } });
}
