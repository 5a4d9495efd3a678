// `TuttiError` is the only error class, and `ERRORS` the closed list of its codes. `ERRORS` alone maps a code to its HTTP
// status, exit code and retryability. A `TuttiError` means that a command failed and changed nothing. The expected ends
// of a turn are no errors but values (`Ending` in ending.ts).

interface ErrorKind {
  status: number;
  /** Exit code of the CLI: 1 failed, 2 usage, 3 not found, 4 refused, 5 unreachable. */
  exit: 1 | 2 | 3 | 4 | 5;
  /** True if the same command can succeed later with the same input. */
  retryable: boolean;
}

export const ERRORS = {
  // Invalid input.
  usage: { status: 400, exit: 2, retryable: false },
  invalid_input: { status: 400, exit: 2, retryable: false },
  not_encodable: { status: 422, exit: 2, retryable: false },
  invalid_scenario: { status: 422, exit: 2, retryable: false },
  invalid_template: { status: 422, exit: 2, retryable: false },
  invalid_plan: { status: 422, exit: 4, retryable: false },
  // A named thing does not exist.
  run_not_found: { status: 404, exit: 3, retryable: false },
  task_not_found: { status: 404, exit: 3, retryable: false },
  worker_not_found: { status: 404, exit: 3, retryable: false },
  session_not_found: { status: 404, exit: 3, retryable: false },
  event_not_found: { status: 422, exit: 3, retryable: false },
  item_not_found: { status: 404, exit: 3, retryable: false },
  template_not_found: { status: 422, exit: 3, retryable: false },
  host_not_found: { status: 404, exit: 3, retryable: false },
  token_not_found: { status: 404, exit: 3, retryable: false },
  agent_unknown: { status: 422, exit: 3, retryable: false },
  folder_not_found: { status: 422, exit: 3, retryable: false },
  // The current state does not allow the command.
  wrong_state: { status: 409, exit: 4, retryable: false },
  gate_closed: { status: 409, exit: 4, retryable: false },
  not_a_repository: { status: 422, exit: 4, retryable: false },
  empty_repository: { status: 422, exit: 4, retryable: false },
  repository_unusable: { status: 422, exit: 4, retryable: false },
  sandbox_unavailable: { status: 409, exit: 4, retryable: false },
  budget_exhausted: { status: 409, exit: 4, retryable: false },
  too_many_runs: { status: 409, exit: 4, retryable: true },
  needs_trust: { status: 403, exit: 4, retryable: false },
  needs_confirmation: { status: 409, exit: 4, retryable: false },
  needs_answer: { status: 409, exit: 4, retryable: false },
  data_folder_in_use: { status: 409, exit: 4, retryable: true },
  data_folder_newer: { status: 409, exit: 4, retryable: false },
  template_exists: { status: 409, exit: 4, retryable: false },
  token_exists: { status: 409, exit: 4, retryable: false },
  template_in_use: { status: 409, exit: 4, retryable: false },
  template_protected: { status: 403, exit: 4, retryable: false },
  // Access and HTTP.
  unauthorized: { status: 401, exit: 4, retryable: false },
  forbidden: { status: 403, exit: 4, retryable: false },
  needs_role: { status: 403, exit: 4, retryable: false },
  not_found: { status: 404, exit: 3, retryable: false },
  payload_too_large: { status: 413, exit: 2, retryable: false },
  idempotency_mismatch: { status: 422, exit: 4, retryable: false },
  rate_limited: { status: 429, exit: 5, retryable: true },
  database_refused: { status: 500, exit: 4, retryable: false },
  port_in_use: { status: 409, exit: 4, retryable: true },
  // Other programs, git and the disk.
  server_unreachable: { status: 500, exit: 5, retryable: true },
  database_unreachable: { status: 500, exit: 5, retryable: true },
  packages_missing: { status: 500, exit: 2, retryable: false },
  agent_not_startable: { status: 422, exit: 5, retryable: false },
  git_failed: { status: 500, exit: 1, retryable: true },
  git_missing: { status: 500, exit: 5, retryable: false },
  host_lost: { status: 500, exit: 1, retryable: true },
  host_removed: { status: 403, exit: 4, retryable: false },
  workspace_failed: { status: 500, exit: 1, retryable: true },
  setup_failed: { status: 500, exit: 1, retryable: false },
  // Conditions of the machine; see `EnvironmentCode`.
  disk_full: { status: 500, exit: 4, retryable: true },
  unwritable: { status: 500, exit: 4, retryable: true },
  out_of_memory: { status: 500, exit: 4, retryable: true },
  too_many_files: { status: 500, exit: 4, retryable: true },
  commits_missing: { status: 500, exit: 4, retryable: true },
  storage_failed: { status: 500, exit: 1, retryable: true },
  // Fences of the log: an append at a wrong position, to a run that another server carries on, and by an engine that
  // another one has replaced.
  append_conflict: { status: 500, exit: 1, retryable: false },
  run_moved: { status: 409, exit: 4, retryable: true },
  stale_epoch: { status: 500, exit: 1, retryable: false },
  engine_stopped: { status: 500, exit: 1, retryable: true },
  internal: { status: 500, exit: 1, retryable: false },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An `EnvironmentCode` means that the machine does not allow the work for now, or lacks commits, and nothing else is
 * wrong. Such a fault pauses a run.
 */
export type EnvironmentCode = (typeof ENVIRONMENT_CODES)[number];
const ENVIRONMENT_CODES = [
  "disk_full",
  "unwritable",
  "out_of_memory",
  "too_many_files",
  "commits_missing",
] as const satisfies ErrorCode[];
export const isEnvironmentCode = (code: ErrorCode): boolean => ENVIRONMENT_CODES.some((each) => each === code);

export class TuttiError extends Error {
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, options: { details?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "TuttiError";
    this.code = code;
    this.details = options.details;
  }

  get kind(): ErrorKind {
    return ERRORS[this.code];
  }

  toJSON(): { error: { code: ErrorCode; message: string; details?: unknown } } {
    const details = this.details === undefined ? {} : { details: this.details };
    return { error: { code: this.code, message: this.message, ...details } };
  }
}

export const noSuchRun = (id: string): TuttiError =>
  new TuttiError("run_not_found", `Run "${id}" does not exist. List runs with "tutti list".`);

/** Converts any thrown value. Everything but a `TuttiError` and a full disk is a bug and gets the code `internal`. */
export function asTuttiError(error: unknown): TuttiError {
  if (error instanceof TuttiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new TuttiError("disk_full", `The disk is full: ${message}. Free some space and try again.`, {
      cause: error,
    });
  return new TuttiError("internal", message, { cause: error });
}
