import type { Server, ServerResponse } from "node:http";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** `ReadPace` lets about 12 MB through in this time. */
const CHECK_MS = 250;

interface Reading {
  sentBytes: number;
  progressAt: number;
}

/**
 * Limits the bytes of all answers of `server` together that its clients have not read. Beyond `maxBytes`, it closes the
 * connections of the clients that have read nothing for the longest time.
 */
export function limitUnreadAnswers(server: Server, maxBytes = MAX_UNREAD_BYTES): void {
  const open = new Map<ServerResponse, Reading>();
  server.on("request", (_request, response) => {
    open.set(response, { sentBytes: 0, progressAt: Date.now() });
    response.once("close", () => open.delete(response));
  });
  const timer = setInterval(() => {
    let unread = 0;
    for (const [response, reading] of open) {
      unread += response.writableLength;
      const sentBytes = (response.socket?.bytesWritten ?? 0) - response.writableLength;
      if (sentBytes !== reading.sentBytes) open.set(response, { sentBytes, progressAt: Date.now() });
    }
    if (unread <= maxBytes) return;
    for (const [response] of [...open].sort(([, a], [, b]) => a.progressAt - b.progressAt)) {
      if (unread <= maxBytes) return;
      unread -= response.writableLength;
      if (response.writableLength > 0) response.destroy();
    }
  }, CHECK_MS).unref();
  server.once("close", () => clearInterval(timer));
}
