export interface TraceSettings {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  resource: Record<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 10_000;

/**
 * Reads the environment variables that OpenTelemetry defines. `readTraceSettings` returns null if tracing is off, or a
 * sentence for the log if they are invalid.
 */
export function readTraceSettings(env: Environment, version: string): TraceSettings | string | null {
  const variable = (name: string) => env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return null;
  const endpoint = variable("ENDPOINT");
  if (!endpoint) return null;
  const protocol = variable("PROTOCOL") ?? "http/json";
  if (protocol !== "http/json") {
    return `No spans are sent: OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}". Set it to http/json.`;
  }
  // `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is the full URL; `endpoint` may lack the path.
  const url = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    return `No spans are sent: the endpoint is not an HTTP URL. Correct OTEL_EXPORTER_OTLP_ENDPOINT.`;
  const headers = readPairs(variable("HEADERS") ?? "");
  if (headers === null)
    return "No spans are sent: OTEL_EXPORTER_OTLP_HEADERS is invalid. Use the form name=value,name=value.";
  const resource = readPairs(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "");
  if (resource === null)
    return "No spans are sent: OTEL_RESOURCE_ATTRIBUTES is invalid. Use the form name=value,name=value.";
  const timeout = Number(variable("TIMEOUT"));
  const name = env["OTEL_SERVICE_NAME"];
  return {
    url,
    headers,
    timeoutMs: timeout > 0 ? timeout : TIMEOUT_MS,
    resource: {
      "service.name": "tutti",
      "service.version": version,
      ...resource,
      ...(name && { "service.name": name }),
    },
  };
}

/** Parses `a=1,b=2` with percent-encoded values. Returns null if `text` is malformed. */
function readPairs(text: string): Record<string, string> | null {
  const pairs: [string, string][] = [];
  for (const part of text.split(",").filter((each) => each.trim() !== "")) {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (name === undefined || value === undefined) return null;
    try {
      pairs.push([name, decodeURIComponent(value)]);
    } catch {
      return null;
    }
  }
  return Object.fromEntries(pairs);
}
