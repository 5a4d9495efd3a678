/**
 * `strict` accepts what the documents prescribe, with our additions where they leave gaps; it applies to messages that
 * Tutti writes. `lenient` also accepts what agents really send, as long as its meaning is clear, and reports every
 * deviation as a warning.
 */
export type Profile = "strict" | "lenient";

export type ProblemCode =
  | "not_an_object"
  | "too_deep"
  | "unknown_kind"
  | "missing"
  | "wrong_type"
  | "off_list"
  | "bad_format"
  | "alias"
  | "stamped"
  | "empty"
  | "unknown_member"
  | "mismatch";

export interface ProfileProblem {
  /** The path in the message, written as in a program: `inputs[0].path`. "" for the message as a whole. */
  path: string;
  /** A message with an `error` cannot be used; one with only warnings can. */
  severity: "error" | "warning";
  code: ProblemCode;
  /** A complete sentence for a user, or for an agent that has to correct its message. */
  sentence: string;
}

export interface ProfileOptions {
  profile: Profile;
  /** The ISO 8601 time of arrival. It replaces a missing timestamp under `lenient`. */
  receivedAt: string;
}

export interface ProfileReading<M> {
  /** Null if any of `problems` is an error. */
  message: M | null;
  problems: ProfileProblem[];
}

export interface Approval {
  approved: boolean;
  /** Sentences that can go into a rejection. Empty if `approved`. */
  reasons: string[];
}

export function problem(
  severity: ProfileProblem["severity"],
  code: ProblemCode,
  path: string,
  sentence: string,
): ProfileProblem {
  return { path, severity, code, sentence };
}

/** For messages of which the log has the time of arrival: `receivedAt` only satisfies the schema. */
export const READ_LENIENTLY = { profile: "lenient", receivedAt: "1970-01-01T00:00:00.000Z" } as const;
