import { language, translate } from "../text/language.ts";
import type { ErrorCode } from "../../../tutti/src/schema/error.ts";

/** The codes that requests of this page can have. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  invalid_input: translate("The request is invalid."),
  invalid_template: translate("The template is invalid."),
  invalid_plan: translate("The plan is invalid."),
  run_not_found: translate("The run does not exist."),
  task_not_found: translate("The task does not exist."),
  worker_not_found: translate("The worker does not exist."),
  session_not_found: translate("The session does not exist."),
  item_not_found: translate("The item was answered or withdrawn."),
  template_not_found: translate("The template does not exist."),
  host_not_found: translate("The host does not exist."),
  token_not_found: translate("The token does not exist."),
  agent_unknown: translate("The agent is unknown."),
  folder_not_found: translate("The folder does not exist."),
  wrong_state: translate("The state of the run does not allow this."),
  gate_closed: translate("The gate is closed."),
  not_a_repository: translate("The folder is not a git repository."),
  empty_repository: translate("The repository has no commits."),
  repository_unusable: translate("The repository cannot be used."),
  budget_exhausted: translate("The budget is used up."),
  too_many_runs: translate("Too many runs are open."),
  needs_trust: translate("The repository is not trusted yet."),
  template_exists: translate("A template with this name exists already."),
  token_exists: translate("A token with this name exists already."),
  template_in_use: translate("Another template extends this one."),
  template_protected: translate("The template is protected."),
  needs_role: translate("Your token does not allow this."),
  rate_limited: translate("Too many requests. Wait a moment."),
  agent_not_startable: translate("The agent cannot be started."),
  git_failed: translate("A git command failed."),
  disk_full: translate("The disk of the server is full."),
  unwritable: translate("The server cannot write its files."),
  run_moved: translate("Another server carries on this run."),
  engine_stopped: translate("The server is stopping."),
  internal: translate("The server has an internal error."),
};

/** Null in English, in which the message of the server says more, and for codes of a newer server. */
export const errorSentence = (code: string): string | null =>
  language === "en" || !Object.hasOwn(SENTENCES, code) ? null : SENTENCES[code as ErrorCode]!;
