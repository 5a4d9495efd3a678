// What went wrong with a request, with the server's own code and sentence. A newer server may know codes that this
// client does not, so the code is any word; `unreachable` is the client's own.

export class RequestError extends Error {
  readonly code: string;
  /** The HTTP status, or 0 when there was no answer. */
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
  return new RequestError("unreachable", `the server at ${baseUrl} does not answer`, { cause });
}

/** The error that an answer tells; an answer in another shape, from a proxy for example, is told by its status. */
export async function readError(response: Response): Promise<RequestError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const told = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const code = typeof told["code"] === "string" ? told["code"] : "internal";
  const message = typeof told["message"] === "string" ? told["message"] : `the server answered with status ${status}`;
  return new RequestError(code, message, { status, details: told["details"] });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
