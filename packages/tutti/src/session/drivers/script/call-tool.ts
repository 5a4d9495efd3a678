// `callTool` calls a tool of Tutti with one request, as an MCP client without a session does. It needs no library, so
// that a rehearsed agent starts fast.
import { request, type RequestOptions } from "node:http";
import { text as readAll } from "node:stream/consumers";

interface ToolResult {
  text: string;
  isError: boolean;
}

export async function callTool(name: string, input: object, signal: AbortSignal): Promise<ToolResult> {
  const { TUTTI_MCP_URL: url = "", TUTTI_MCP_TOKEN: token = "" } = process.env;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
  const answer = await post(url, { authorization: `Bearer ${token}` }, body, signal);
  // A server may answer with a stream of events. The last one is the result.
  const data = answer.startsWith("{") ? answer : [...answer.matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1];
  const { result, error } = JSON.parse(data ?? "{}") as RpcAnswer;
  if (!result) return { text: error?.message ?? answer, isError: true };
  return { text: result.content.map(({ text }) => text).join("\n"), isError: result.isError === true };
}

interface RpcAnswer {
  result?: { content: { text: string }[]; isError?: boolean };
  error?: { message: string };
}

/** In the sandbox `url` names a Unix socket: `http+unix://PATH/mcp`. */
function addressOf(url: string): RequestOptions {
  const [, socket, path] = /^http\+unix:\/\/([^/]+)(\/.*)$/.exec(url) ?? [];
  if (socket !== undefined) return { socketPath: decodeURIComponent(socket), path: path! };
  const { hostname, port, pathname } = new URL(url);
  return { hostname, port, path: pathname };
}

async function post(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<string> {
  const accepted = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request(
    { ...addressOf(url), method: "POST", headers: { ...headers, ...accepted }, signal },
    (response) => void readAll(response).then(resolve, reject),
  );
  call.once("error", reject);
  call.end(body);
  return promise;
}
