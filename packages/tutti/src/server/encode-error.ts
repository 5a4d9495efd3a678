import { asTuttiError, type TuttiError } from "../schema/error.ts";

export interface EncodedError {
  status: number;
  body: ReturnType<TuttiError["toJSON"]>;
}

/** Maps any thrown value to a status and a body. The body never contains the stack. */
export function encodeError(error: unknown): EncodedError {
  const known = asTuttiError(error);
  return { status: known.kind.status, body: known.toJSON() };
}
