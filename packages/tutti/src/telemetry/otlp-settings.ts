// Where spans are to be sent, from the variables of the environment that OpenTelemetry defines.

export interface TraceSettings {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  resource: Record<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 10_000;

/** Null if nobody wants spans; a sentence if they are wanted and cannot be had. */
export function readTraceSettings(env: Environment, version: string): TraceSettings | string | null {
  const of = (name: string) => env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return null;
  const endpoint = of("ENDPOINT");
  if (!endpoint) return null;
  const protocol = of("PROTOCOL") ?? "http/json";
  if (protocol !== "http/json") {
    return `no spans are sent: OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, and only http/json is spoken`;
  }
  // The variable for traces alone is the whole address.
  const whole = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  if (!/^https?:$/.test(URL.parse(whole)?.protocol ?? "")) return "no spans are sent: the endpoint is no http address";
  const headers = readPairs(of("HEADERS") ?? "");
  if (headers === null) return "no spans are sent: OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value";
  const resource = readPairs(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "");
  if (resource === null) return "no spans are sent: OTEL_RESOURCE_ATTRIBUTES is not of the form name=value,name=value";
  const timeout = Number(of("TIMEOUT"));
  const name = env["OTEL_SERVICE_NAME"];
  return {
    url: whole,
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

/** `a=1,b=2`, with the values percent-encoded. */
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
