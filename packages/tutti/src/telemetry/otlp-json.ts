// `encodeSpans` encodes OTLP/JSON: 64-bit numbers as strings, ids in hexadecimal, kinds and statuses as numbers.
import type { Attributes, Span } from "./span.ts";

const KINDS = { internal: 1, client: 3 } as const;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;

export function encodeSpans(spans: readonly Span[], resource: Attributes): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: "tutti" }, spans: spans.map(encodeSpan) }],
      },
    ],
  };
}

function encodeSpan({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, error }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: encodeAttributes(attributes),
    status: error === null ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error },
  };
}

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms)) * 1_000_000n);

function encodeAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
