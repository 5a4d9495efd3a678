// The one way in which errors leave the server.
import { asTuttiError, type TuttiError } from "../schema/error.ts";

export interface EncodedError {
  status: number;
  body: ReturnType<TuttiError["toJSON"]>;
}

/** Any thrown value as status and body. The stack stays here. */
export function encodeError(error: unknown): EncodedError {
  const known = asTuttiError(error);
  return { status: known.kind.status, body: known.toJSON() };
}
