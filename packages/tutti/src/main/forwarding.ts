import type { ForwardedAnswer, ForwardedRequest, Forwarder } from "../server/forward.ts";
import type { RequestBox } from "../store/postgres/request-box.ts";

export const forwarderOf =
  (requests: RequestBox): Forwarder =>
  async (run, request) => {
    const answer = await requests.ask(run, JSON.stringify(request));
    return answer === null ? null : (JSON.parse(answer) as ForwardedAnswer);
  };

/** Sends the requests of other servers to this server's own port, with its own `token`. */
export function serveForwarded(requests: RequestBox, url: string, token: string): void {
  const base = new URL(url);
  // A server that listens on every address reaches itself through loopback.
  if (base.hostname === "0.0.0.0") base.hostname = "127.0.0.1";
  if (base.hostname === "[::]") base.hostname = "[::1]";
  requests.serve(async (text) => {
    const { method, path, headers, body } = JSON.parse(text) as ForwardedRequest;
    const response = await fetch(`${base.origin}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body === "" ? {} : { body }),
    });
    const answer: ForwardedAnswer = {
      status: response.status,
      type: response.headers.get("content-type") ?? "application/json",
      body: await response.text(),
    };
    return JSON.stringify(answer);
  });
}
