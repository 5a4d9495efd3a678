// The two ways to look at a message: strict for what we write, lenient for what others wrote.

/**
 * `strict` accepts what the documents prescribe and our resolutions complete. `lenient` also accepts what agents really
 * send, as long as its meaning is clear, and names every deviation in a warning.
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

export interface Problem {
  /** Where in the message, as one writes it in a program: `inputs[0].path`. Empty for the message as a whole. */
  path: string;
  /** An error means that the message cannot be used; a warning, that it can. */
  severity: "error" | "warning";
  code: ProblemCode;
  /** A whole sentence for a person, or for an agent that is asked to do better. */
  sentence: string;
}

export interface ReadOptions {
  profile: Profile;
  /** When the message arrived, as an ISO 8601 time. It stands in for a missing timestamp under `lenient`. */
  receivedAt: string;
}

export interface Reading<M> {
  /** Null when any problem is an error. */
  message: M | null;
  problems: Problem[];
}

/** Whether finished work is accepted. */
export interface Approval {
  approved: boolean;
  /** Why not, as sentences that can go into a rejection. Empty if approved. */
  reasons: string[];
}

/** A problem that no schema finds. */
export function problem(severity: Problem["severity"], code: ProblemCode, path: string, sentence: string): Problem {
  return { path, severity, code, sentence };
}
