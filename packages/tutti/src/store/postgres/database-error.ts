// Maps errors of PostgreSQL and of its connections to `TuttiError`. No message contains a password.
import { TuttiError } from "../../schema/error.ts";

/** SQLSTATE codes and classes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08...|25P03|57P0[1235]|53300|database_unreachable)$/;
/** `pg` reports a connection that ends during a query, and a connection attempt that takes too long, without a code. */
const LOST_CONNECTION =
  /Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client has encountered a connection error|not queryable/;
const LOGIN_REFUSED = /^28...$/;
const PERMISSION_DENIED = "42501";
const NO_SUCH_DATABASE = "3D000";
const DISK_FULL = "53100";

/** `isConnectionLoss` means that the same work can succeed on another connection. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = partsOf(error);
  return UNREACHABLE.test(code) || (code === "" && LOST_CONNECTION.test(message));
}

/** `place` names the database without its password, and `purpose` completes "Cannot …". */
export function databaseError(error: unknown, place: string, purpose: string): TuttiError {
  if (error instanceof TuttiError) return error;
  const { code, message } = partsOf(error);
  const options = { cause: error };
  if (isConnectionLoss(error)) {
    const advice = "Check that PostgreSQL runs and that --database-url names its address.";
    return new TuttiError(
      "database_unreachable",
      `The database ${place} cannot be reached: ${message}. ${advice}`,
      options,
    );
  }
  if (code === NO_SUCH_DATABASE)
    return new TuttiError(
      "usage",
      `The database ${place} does not exist. Create it, or correct --database-url.`,
      options,
    );
  if (LOGIN_REFUSED.test(code))
    return new TuttiError(
      "database_refused",
      `The database ${place} refuses the login: ${message}. Correct --database-url.`,
      options,
    );
  if (code === PERMISSION_DENIED)
    return new TuttiError(
      "database_refused",
      `The login of the database ${place} may not do this: ${message}. Use the login of the owner.`,
      options,
    );
  if (code === DISK_FULL)
    return new TuttiError("disk_full", `The disk of the database ${place} is full. Free some space there.`, options);
  return new TuttiError(
    "storage_failed",
    `Cannot ${purpose} in the database ${place}: ${message}. Check its log.`,
    options,
  );
}

/** An `AggregateError` of several addresses has a code but no message of its own. */
function partsOf(error: unknown): { code: string; message: string } {
  const { code = "", message = "", errors } = (error ?? {}) as { code?: string; message?: string; errors?: unknown[] };
  const first = errors?.find((each) => each instanceof Error);
  return { code, message: message || first?.message || code || String(error) };
}
