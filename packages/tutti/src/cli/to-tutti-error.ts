// `toTuttiError` converts a `RequestError` of the client to a `TuttiError`, which has an exit code.
import { RequestError } from "../client/request-error.ts";
import { asTuttiError, ERRORS, TuttiError, type ErrorCode } from "../schema/error.ts";

export function toTuttiError(error: unknown): TuttiError {
  if (!(error instanceof RequestError)) return asTuttiError(error);
  const { code, message, details, cause } = error;
  if (cause instanceof TuttiError) return cause;
  if (code === "unreachable") return new TuttiError("server_unreachable", message, { cause });
  // A newer server may send codes that `ERRORS` does not have.
  const known = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : "internal";
  return new TuttiError(known, message, { details, cause });
}
