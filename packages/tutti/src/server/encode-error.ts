import { asTuttiError, type TuttiError } from "../schema/error.ts";

interface EncodedError {
  status: number;
  body: ReturnType<TuttiError["toJSON"]>;
}

/** `encodeError` accepts any thrown value. The body never contains the stack. */
export function encodeError(error: unknown): EncodedError {
  const tuttiError = asTuttiError(error);
  return { status: tuttiError.kind.status, body: tuttiError.toJSON() };
}
