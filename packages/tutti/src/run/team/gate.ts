// The rules of the security gate. It fails closed: only a complete and exact approval by the session that holds the
// review opens it, for the commit that the session reviewed and for no other (`judgeReview`).
//
// Invariants
// 1. A deployment gets a session and every one of its turns only while the gate of its environment is open for the
//    commit that the session started from.
// 2. An approval ends when the work that it covers changes, when a ref of the run moves, and after `approvalTtl`.
// 3. Nothing but `gate:opened` and `gate:overridden` opens a gate, and only `decide` makes them.
import { workerOf } from "../lookup.ts";
import { dependenciesOf, foundationOf } from "../plan/dependencies-of.ts";
import type { ReadMessage } from "../command.ts";
import { TuttiError } from "../../schema/error.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import {
  DEFAULT_GATE,
  environmentsOf,
  gateEntry,
  policyOf,
  type GateEntry,
  type GateSettings,
} from "../../schema/team/gate.ts";
import { isAuditor, isDeployer } from "../../schema/team/roles.ts";
import type { Worker } from "../../schema/worker.ts";
import { sentence } from "../../sentence.ts";

/** Returns null if the template has no deployment (`isDeployer`), and therefore no gate. */
export function gateOf({ template }: Pick<Run, "template">): GateSettings | null {
  const { roles, pipeline = [], gate = DEFAULT_GATE } = template;
  return pipeline.some(({ role }) => isDeployer(roles, role)) ? gate : null;
}

export const isDeployment = ({ template }: Run, { role }: Pick<Task, "role">): boolean =>
  isDeployer(template.roles, role);
export const isReview = ({ template }: Run, { role }: Pick<Task, "role">): boolean => isAuditor(template.roles, role);

/** A task waits for the gate if it `isDeployment`, or if its step of the pipeline comes directly after a review. */
export function isGated(run: Run, task: Task): boolean {
  if (gateOf(run) === null) return false;
  const { pipeline = [], roles } = run.template;
  const isOfAuditor = (id: string): boolean => pipeline.some((step) => step.id === id && isAuditor(roles, step.role));
  return isDeployment(run, task) || pipeline.some(({ id, after }) => id === task.id && after.some(isOfAuditor));
}

const NEVER_OPENED = sentence("No security review has approved a commit.");

export interface GateView extends Omit<GateEntry, "covers" | "movedRefs"> {
  environment: string;
}

/** The first view is the target of the deployment (`environmentsOf`). */
export function gateViews(run: Run, at: number): GateView[] {
  const settings = gateOf(run);
  if (settings === null) return [];
  return environmentsOf(settings).map((environment) => {
    const entry = gateEntry(run, environment);
    const { commit, approvedBy, approvedAt, overrides } = entry ?? { ...NOTHING, overrides: [] };
    const reasons = entry ? whyClosed(run, environment, at) : [NEVER_OPENED];
    if (reasons.length > 0) return { environment, state: "closed", ...NOTHING, reasons, overrides };
    return { environment, state: entry!.state, commit, approvedBy, approvedAt, reasons: entry!.reasons, overrides };
  });
}

const NOTHING = { commit: null, approvedBy: null, approvedAt: null };

/** Returns nothing if the gate lets a deployment to `environment` through now. */
function whyClosed(run: Run, environment: string, at: number): string[] {
  const settings = gateOf(run);
  const entry = gateEntry(run, environment);
  if (settings === null || !entry) return [NEVER_OPENED];
  if (entry.state === "closed") return entry.reasons;
  const reasons: string[] = [];
  const { approvalTtl } = policyOf(settings, environment);
  if (entry.state === "open" && approvalTtl !== undefined && at >= entry.approvedAt! + approvalTtl)
    reasons.push(sentence("The approval expired after {ms} ms.", { ms: approvalTtl }));
  const changed = Object.entries(entry.covers).filter(([id, commit]) => coveredCommit(run, id) !== commit);
  const tasks = changed.map(([id]) => id).join(", ");
  if (changed.length > 0) reasons.push(sentence("The code changed after the approval: {tasks}.", { tasks }));
  if ((run.movedRefs?.length ?? 0) !== entry.movedRefs)
    reasons.push(sentence("A ref of the run moved after the approval."));
  return reasons;
}

/** Returns null for a task without accepted work. */
function coveredCommit(run: Run, taskId: string): string | null {
  const worker = workerOf(run, taskId);
  return worker?.status === "completed" ? worker.commit : null;
}

const coversOf = (run: Run, taskId: string): Record<string, string | null> =>
  Object.fromEntries(dependenciesOf(run, taskId).map((id) => [id, coveredCommit(run, id)]));

/** When `closeOutdated` may have to close a gate, because an approval expires. */
export function gateExpiries(run: Run): number[] {
  const settings = gateOf(run);
  return Object.entries(run.gate ?? {}).flatMap(([environment, { state, approvedAt }]) => {
    const { approvalTtl } = settings ? policyOf(settings, environment) : {};
    return state === "open" && approvalTtl !== undefined ? [approvedAt! + approvalTtl] : [];
  });
}

/** Closes the gates of which the approval has ended (`whyClosed`). */
export function closeOutdated(run: Run, at: number): RunEvent[] {
  if (run.gate === undefined) return [];
  return Object.entries(run.gate).flatMap(([environment, { state, commit }]): RunEvent[] => {
    const reasons = state === "closed" ? [] : whyClosed(run, environment, at);
    return reasons.length === 0 ? [] : [{ type: "gate:closed", data: { id: run.id, environment, commit, reasons } }];
  });
}

/** Returns the commit that the target environment may get now, or null while its gate is closed. */
export function deployableCommit(run: Run, at: number): string | null {
  const settings = gateOf(run);
  if (settings === null || whyClosed(run, settings.environment, at).length > 0) return null;
  return gateEntry(run, settings.environment)!.commit;
}

/** Whether the gate holds `task` back, or is open for another commit (`deployableCommit`) than `start`. */
export function isHeldBack(run: Run, task: Task, start: string | null, at: number): boolean {
  if (!isGated(run, task)) return false;
  const commit = deployableCommit(run, at);
  return commit === null || (isDeployment(run, task) && start !== null && start !== commit);
}

export function refuseDeployment(run: Run, taskId: string, at: number): EventOf<"gate:refused"> {
  const { environment } = gateOf(run)!;
  const commit = gateEntry(run, environment)?.commit ?? null;
  const closed = whyClosed(run, environment, at);
  const reasons = closed.length > 0 ? closed : [sentence("The gate is open for another commit.")];
  return { type: "gate:refused", data: { id: run.id, environment, commit, taskId, code: "gate_closed", reasons } };
}

/** Throws `gate_closed` if the task `isHeldBack`. The error contains the event about it. */
export function mustPassGate(run: Run, task: Task, at: number): void {
  if (!isHeldBack(run, task, null, at)) return;
  const event = refuseDeployment(run, task.id, at);
  const { environment, reasons } = event.data;
  const advice = "Let a security review approve the commit, then retry.";
  const message = `Task "${task.id}" cannot start: the gate of ${environment} is closed. ${reasons.join(" ")} ${advice}`;
  throw new TuttiError("gate_closed", message, { details: { environment, reasons, taskId: task.id, event } });
}

/** `environments` are those that the review approves. If there are none, `reasons` says why. */
interface ReviewVerdict {
  environments: string[];
  reasons: string[];
}

/** Judges the only completion of a review's turn, by the message as it was sent (`exact`). */
export function judgeReview(run: Run, worker: Worker, completions: readonly ReadMessage[]): ReviewVerdict {
  const settings = gateOf(run);
  if (settings === null) return { environments: [], reasons: [] };
  const [first, ...others] = completions;
  if (!first) return { environments: [], reasons: [sentence("The review has no TASK_COMPLETION message.")] };
  const reasons = approvalProblems(first, worker);
  if (others.some(({ body }) => JSON.stringify(body) !== JSON.stringify(first.body)))
    reasons.push(sentence("The review has several messages that differ."));
  const status = first.body["approval_status"];
  if (status !== "APPROVED" && status !== "CONDITIONAL")
    reasons.unshift(sentence("The review says {status}.", { status: JSON.stringify(status) }));
  if (reasons.length > 0) return { environments: [], reasons };
  const environments = environmentsOf(settings).filter(
    (environment) => status === "APPROVED" || policyOf(settings, environment).conditional === true,
  );
  return environments.length > 0
    ? { environments, reasons: [] }
    : { environments, reasons: [sentence("The review is CONDITIONAL, which no environment accepts.")] };
}

/**
 * Returns what is wrong with the form of an approving review, for example a member that it omits, so that its session
 * can correct it. A review that rejects is clear without that.
 */
export function formProblems({ body, exact }: ReadMessage): string[] {
  const { approval_status: status } = body;
  if (status === "REJECTED") return [];
  if (!exact) return [NOT_EXACT];
  const output = membersOf(body["output"]);
  const validation = membersOf(body["validation"]);
  const missing = [
    ...(status === undefined ? ["approval_status"] : []),
    ...["from_agent", "status"].filter((name) => body[name] === undefined),
    ...(output["blocking_deployment"] === undefined ? ["output.blocking_deployment"] : []),
    ...VERDICTS_OF_REVIEW.filter((name) => validation[name] === undefined).map((name) => `validation.${name}`),
  ];
  return missing.map((name) => sentence('The review has no "{name}".', { name }));
}

const NOT_EXACT = sentence(
  "The message is not exact JSON on lines of its own, repeats a member, or is not the only object like it.",
);
const VERDICTS_OF_REVIEW = ["security_passed", "production_readiness_passed", "scalability_passed", "all_passed"];

/** Returns everything that keeps the message from being an approval, apart from its `approval_status`. */
function approvalProblems({ body, exact, reasons: rejected }: ReadMessage, worker: Worker): string[] {
  const problems = [...rejected];
  if (!exact) problems.push(NOT_EXACT);
  if (body["task_id"] !== worker.taskId) problems.push(sentence('"task_id" is not the id of the review.'));
  if (typeof body["from_agent"] !== "string") problems.push(sentence('"from_agent" is missing.'));
  if (body["status"] !== "completed") problems.push(sentence('"status" is not "completed".'));
  const output = membersOf(body["output"]);
  if (output["blocking_deployment"] !== false) problems.push(sentence('"output.blocking_deployment" is not false.'));
  const validation = membersOf(body["validation"]);
  const names = new Set([...VERDICTS_OF_REVIEW, ...Object.keys(validation)]);
  for (const name of names)
    if (!isPassed(validation[name])) problems.push(sentence('"validation.{name}" is not true.', { name }));
  return [...problems, ...new Set(contradictions(body, worker))];
}

/** The lists that an approval leaves empty; a `CONDITIONAL` one may have conditions. */
const OPEN_ISSUES = new Set(["criticalissues", "highissues"]);
const CONDITIONS = new Set(["mustfix", "conditions"]);

/** Returns a sentence for each member, at any depth and in any spelling, that says the opposite of an approval. */
function contradictions(body: Record<string, unknown>, { session }: Worker): string[] {
  const { approval_status: status } = body;
  // `approvalProblems` has judged this one.
  const { blocking_deployment: blocking } = membersOf(body["output"]);
  return membersIn(body).flatMap(([name, value]) => {
    const plain = name.toLowerCase().replaceAll(/[^a-z0-9[]/g, "");
    const about = { name, value: (JSON.stringify(value) ?? "").slice(0, 80) };
    const isList = OPEN_ISSUES.has(plain) || (status === "APPROVED" && CONDITIONS.has(plain));
    if (isList && !(Array.isArray(value) && value.length === 0))
      return [sentence('"{name}" is not empty: {value}.', about)];
    const isOpposite =
      (plain === "blockingdeployment" && value !== false && value !== blocking) ||
      (plain === "approvalstatus" && value !== status) ||
      (plain === "severity" && /^(critical|high)$/i.test(String(value).trim()));
    if (isOpposite) return [sentence('"{name}" is {value}, which contradicts an approval.', about)];
    return namesCommit(name, value) && !isSameCommit(value, session.start)
      ? [sentence("The message names another commit: {commit}.", { commit: about.value })]
      : [];
  });
}

/** All members at any depth, with their names. The values of the list `commits` have the name `commits[]`. */
function membersIn(value: unknown, name = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[name, value]];
  const inner = Array.isArray(value)
    ? value.flatMap((each) => membersIn(each, `${name}[]`))
    : Object.entries(value).flatMap(([member, each]) => membersIn(each, member));
  return [[name, value], ...inner];
}

const NAME_OF_COMMIT = /^(commit|commit_?(id|sha|hash)|sha|revision|head|reviewed_commit|code_version)$/i;

function namesCommit(listName: string, value: unknown): boolean {
  const name = listName.replaceAll("[]", "");
  if (typeof value === "object" && value !== null) return false;
  const isHash = typeof value === "string" && /^[0-9a-f]{7,64}$/i.test(value);
  return NAME_OF_COMMIT.test(name) || (isHash && /commit|revision|sha1?$/i.test(name));
}

/** A list of verdicts must be all true, and a list of remaining issues empty. */
const isPassed = (value: unknown): boolean =>
  value === true || (Array.isArray(value) && value.every((each) => each === true));

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** A short name of a commit counts if it is long enough to be unique. */
const isSameCommit = (named: unknown, commit: string | null): boolean =>
  typeof named === "string" && commit !== null && named.length >= 7 && commit.startsWith(named.toLowerCase());

/** `worker` is a review that was judged. The review itself is complete either way. */
export function settleReview(
  run: Run,
  worker: Worker,
  { environments, reasons }: ReviewVerdict,
  messageId: string,
): RunEvent[] {
  const settings = gateOf(run);
  if (settings === null) return [];
  const { taskId, sessionId, task } = worker;
  const commit = worker.session.start!;
  const covers = coversOf(run, taskId);
  return environmentsOf(settings).flatMap((environment): RunEvent[] => {
    const about = { id: run.id, environment };
    const isApproved = environments.includes(environment);
    const refusals = isApproved ? refusalsBeside(run, environment, taskId) : [];
    if (isApproved && refusals.length === 0) {
      const approvedBy = task.role!;
      return [{ type: "gate:opened", data: { ...about, commit, taskId, sessionId, messageId, approvedBy, covers } }];
    }
    const tasks = refusals.join(", ");
    const why = isApproved
      ? [sentence("Another review did not approve: {tasks}.", { tasks })]
      : reasons.length > 0
        ? reasons
        : [sentence("The review is CONDITIONAL, which this environment does not accept.")];
    return [
      { type: "gate:refused", data: { ...about, commit, taskId, code: "gate_closed", reasons: why } },
      { type: "gate:closed", data: { ...about, commit, reasons: why, ...(isApproved ? {} : { review: taskId }) } },
    ];
  });
}

/** A review settles its own refusal and those of the reviews that it depends on, because it reviews their fixes. */
function refusalsBeside(run: Run, environment: string, taskId: string): string[] {
  const settled = foundationOf(run, taskId);
  return (gateEntry(run, environment)?.refusedBy ?? []).filter((id) => id !== taskId && !settled.has(id));
}

/** Opens the gate without an approval, for the commit that the newest review looked at, or else for the run's branch. */
export function overrideGate(run: Run, environment: string, by: string, reason: string): RunEvent[] {
  const settings = gateOf(run);
  if (settings === null)
    throw new TuttiError(
      "wrong_state",
      `Run "${run.id}" has no gate, because its template deploys nothing. Choose another run.`,
    );
  if (!environmentsOf(settings).includes(environment)) {
    const known = environmentsOf(settings).join(", ");
    throw new TuttiError("invalid_input", `The environment "${environment}" does not exist. Choose from ${known}.`);
  }
  if (reason.trim() === "")
    throw new TuttiError("invalid_input", "An override needs a reason. Say why the deployment cannot wait.");
  if (policyOf(settings, environment).override !== true) {
    const message = `The gate of ${environment} cannot be overridden: the template does not allow it. Let a security review approve the commit.`;
    throw new TuttiError("gate_closed", message, { details: { environment } });
  }
  // A review that a worker delegates concerns the work of that worker only.
  const review = run.tasks.findLast((task) => isReview(run, task) && task.delegation === undefined)!;
  const reviewer = workerOf(run, review.id);
  const commit = reviewer?.session.start ?? run.head;
  if (commit === null) throw new TuttiError("wrong_state", `Run "${run.id}" has not started. Start it first.`);
  const isLost = reviewer !== undefined && ["failed", "timeout", "cancelled"].includes(reviewer.status);
  const covers = coversOf(run, review.id);
  const data = { id: run.id, environment, commit, by, reason, covers, ...(isLost ? { review: review.id } : {}) };
  return [{ type: "gate:overridden", data }];
}
