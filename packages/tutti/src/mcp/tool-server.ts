// `createToolServer` serves a table of tools. It validates arguments itself, so that a wrong one is a tool result with
// the path of each problem, which a model reads, and not a protocol error, which some clients hide from their model.
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { explainArguments, problemText, type ArgumentProblem } from "./explain-arguments.ts";
import { InvalidArguments } from "./invalid-arguments.ts";
import type { McpTool } from "./mcp-tool.ts";
import { asTuttiError } from "../schema/error.ts";

interface ToolServerOptions {
  /** Models read these together with the descriptions of the `tools`. */
  instructions: string;
  version: string;
  tools: Readonly<Record<string, McpTool>>;
  resources?: Resources;
}

interface ListedResource {
  uri: string;
  name: string;
  description: string;
  mimeType: string;
}

interface ResourceTemplate extends Omit<ListedResource, "uri"> {
  uriTemplate: string;
}

export interface Resources {
  templates: readonly ResourceTemplate[];
  list(): Promise<ListedResource[]>;
  /** Returns null if no resource has this `uri`. */
  read(uri: string): Promise<{ mimeType: string; text: string } | null>;
}

export function createToolServer({ instructions, version, tools, resources }: ToolServerOptions): Server {
  const server = new Server(
    { name: "tutti", version },
    { instructions, capabilities: { tools: {}, ...(resources && { resources: {} }) } },
  );
  server.setRequestHandler("tools/list", () => ({ tools: Object.entries(tools).map(describeTool) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    if (Object.hasOwn(tools, params.name)) return callTool(params.name, tools[params.name]!, params.arguments, context);
    const known = Object.keys(tools).join(", ");
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The tool "${params.name}" does not exist. Use ${known}.`);
  });
  if (resources) serveResources(server, resources);
  return server;
}

function serveResources(server: Server, resources: Resources): void {
  server.setRequestHandler("resources/list", async () => ({ resources: await resources.list() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resources.templates] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const found = await resources.read(uri).catch((error: unknown) => {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, messageOf(error));
    });
    if (found) return { contents: [{ uri, ...found }] };
    const known = resources.templates.map(({ uriTemplate }) => uriTemplate).join(" and ");
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The resource "${uri}" does not exist. Use ${known}.`);
  });
}

function describeTool([name, { description, input, readOnly }]: [string, McpTool]) {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return {
    name,
    description,
    inputSchema: schema as { type: "object" },
    ...(readOnly && { annotations: { readOnlyHint: true } }),
  };
}

async function callTool(name: string, tool: McpTool, given: unknown, context: ServerContext): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(given ?? {});
  if (!parsed.success) return refusalOf(name, explainArguments(parsed.error, given ?? {}));
  const { signal, notify, _meta } = context.mcpReq;
  const progressToken = _meta?.progressToken;
  let count = 0;
  const progress = async (message: string): Promise<void> => {
    if (progressToken === undefined || signal.aborted) return;
    await notify({ method: "notifications/progress", params: { progressToken, progress: ++count, message } });
  };
  try {
    return resultOf(await tool.call(parsed.data, { signal, progress }));
  } catch (error) {
    return error instanceof InvalidArguments ? refusalOf(name, error.problems) : errorOf(error);
  }
}

function refusalOf(name: string, problems: readonly ArgumentProblem[]): CallToolResult {
  const error = { code: "invalid_input", message: `The arguments of ${name} are invalid.`, details: [...problems] };
  return {
    isError: true,
    content: [{ type: "text", text: problemText(name, problems) }],
    structuredContent: { error },
  };
}

/** Only an object may be `structuredContent`. */
function resultOf(value: unknown): CallToolResult {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return {
    content: [{ type: "text", text }],
    ...(isObject && { structuredContent: value }),
  };
}

function errorOf(thrown: unknown): CallToolResult {
  const error = isCoded(thrown) ? thrown : asTuttiError(thrown);
  const { code, message, details } = error;
  return {
    isError: true,
    content: [{ type: "text", text: `${message} (${code})` }],
    structuredContent: { error: { code, message, ...(details === undefined ? {} : { details }) } },
  };
}

const messageOf = (thrown: unknown): string => (isCoded(thrown) ? thrown : asTuttiError(thrown)).message;

/** True for an error of a server or of Tutti. `asTuttiError` hides the text of all others. */
const isCoded = (error: unknown): error is Error & { code: string; details?: unknown } =>
  error instanceof Error && "details" in error && typeof (error as { code?: unknown }).code === "string";
