export class RequestError extends Error {
  /** Any string, because a newer server may send unknown codes. Only `unreachable` comes from the client itself. */
  readonly code: string;
  /** 0 if there was no response. */
  readonly status: number;
  readonly details: unknown;

  constructor(code: string, message: string, options: { status?: number; details?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "RequestError";
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details;
  }
}

export function unreachable(baseUrl: string, cause: unknown): RequestError {
  return new RequestError("unreachable", `The server at ${baseUrl} does not answer. Start it with "tutti serve".`, {
    cause,
  });
}

/** Uses `fallback` for a body of another format, for example from a proxy. */
export async function readError(response: Response): Promise<RequestError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const code = typeof error["code"] === "string" ? error["code"] : "internal";
  const fallback = `The server answered with status ${status} and no error message. Check the address and its proxies.`;
  const message = typeof error["message"] === "string" ? error["message"] : fallback;
  return new RequestError(code, message, { status, details: error["details"] });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
