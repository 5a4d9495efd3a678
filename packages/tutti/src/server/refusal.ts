// What the server itself refuses, before the engine is asked, and the one way in which errors leave it.
import { ERRORS, TuttiError, asTuttiError } from "../schema/error.ts";

/** Codes that only a server has a use for, with their status. */
const REFUSALS = { unauthorized: 401, forbidden: 403, not_found: 404, payload_too_large: 413 } as const;
export type RefusalCode = keyof typeof REFUSALS;

export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }

  get status(): number {
    return REFUSALS[this.code];
  }
}

export interface EncodedError {
  status: number;
  body: { error: { code: string; message: string; details?: unknown } };
}

/** Any thrown value as status and body. The stack stays here. */
export function encodeError(error: unknown): EncodedError {
  if (error instanceof Refusal) {
    return { status: error.status, body: { error: { code: error.code, message: error.message } } };
  }
  const known = error instanceof TuttiError ? error : asTuttiError(error);
  return { status: ERRORS[known.code].status, body: known.toJSON() };
}
