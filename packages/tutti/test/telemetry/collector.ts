// A fake OpenTelemetry collector: it keeps the spans it receives, or answers as the test configures.
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, string | number | boolean> }[];
  status: { code: number; message?: string };
}

interface Body {
  resourceSpans: {
    resource: { attributes: CollectedSpan["attributes"] };
    scopeSpans: { scope: { name: string }; spans: CollectedSpan[] }[];
  }[];
}

export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: { url: string; headers: IncomingHttpHeaders }[] = [];
  resource: Record<string, unknown> = {};
  /** The response status. Null means that it never responds. */
  status: number | null = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Collector> {
    const server = createServer();
    const self = new Collector(server);
    server.on("request", (request, response) => void self.#answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return self;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.requests.push({ url: request.url!, headers: request.headers });
    if (this.status === null) return;
    if (this.status === 200) this.#take(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body);
    response.writeHead(this.status, { "content-type": "application/json" }).end("{}");
  }

  #take({ resourceSpans }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = valuesOf(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Attributes by name, converted to their declared types. */
export const valuesOf = (attributes: CollectedSpan["attributes"]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[type, held]] = Object.entries(value) as [[string, unknown]];
      return [key, type === "intValue" ? Number(held) : held];
    }),
  );
