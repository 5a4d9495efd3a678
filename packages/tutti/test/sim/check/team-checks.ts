// Checks the messages between roles, delegated tasks and the security gate against the log and the real behaviour of the
// sessions. The books are kept from the events alone.
import type { Ledger } from "./ledger.ts";
import type { Checked } from "./log-checks.ts";
import type { Process } from "../machine.ts";
import { dependenciesOf } from "../../../src/run/plan/dependencies-of.ts";
import { canonicalJson } from "../../../src/protocol/json/canonical-json.ts";
import { isAuditor, isDeployer, OUTSIDE } from "../../../src/schema/team/roles.ts";
import type { EventData, StoredEvent } from "../../../src/schema/event.ts";
import type { Run } from "../../../src/schema/run.ts";
import type { QueuedMessage } from "../../../src/schema/team/team-message.ts";
import type { Turn } from "../../../src/session/session.ts";

interface BookedMessage {
  message: QueuedMessage;
  /** Whether it is queued, and no turn has it yet. */
  isQueued: boolean;
  deliveries: number;
  /** How often it may be delivered: once, and once more for each time that it was sent again. */
  allowed: number;
  acted: number;
}

/** An open gate: the commit that may be deployed, and the accepted commits below the review. */
interface Approval {
  commit: string;
  covers: ReadonlyMap<string, string | undefined>;
  expiresAt: number;
}

export class TeamBook {
  readonly messages = new Map<string, BookedMessage>();
  readonly rejections = new Map<string, number>();
  approval: Approval | null = null;
  /** The last failures of a continuous run, all of the same kind. */
  failures = { code: "", count: 0 };
}

export function checkTeam(checked: Checked, ledger: Ledger, before: Run, event: StoredEvent): void {
  if (before.template.roles === undefined) return;
  const { stage } = checked;
  const { team: book } = ledger;
  switch (event.type) {
    case "message:queued": {
      const { message } = event.data;
      const booked = { message, isQueued: true, deliveries: 0, allowed: 1, acted: 0 };
      stage.require(!book.messages.has(message.id), "messages", () => `${message.id} is queued twice`);
      book.messages.set(message.id, booked);
      return;
    }
    case "message:resent": {
      const booked = book.messages.get(event.data.messageId)!;
      stage.count("messages sent again");
      booked.isQueued = true;
      booked.allowed++;
      const limit = 1 + (before.template.team?.resendLimit ?? 1);
      stage.require(booked.allowed <= limit, "messages", () => `${event.data.messageId} is sent again too often`);
      return;
    }
    case "message:delivered":
      return checkDelivery(checked, book, event.data.messageId);
    case "message:acted": {
      const booked = book.messages.get(event.data.messageId)!;
      booked.acted++;
      booked.isQueued = false;
      if (booked.message.type === "attempt_completion") {
        stage.count("delegated tasks that returned");
        stage.require(booked.acted === 1, "returns", () => `${booked.message.taskId} returns ${booked.acted} times`);
      }
      return;
    }
    // A role may acknowledge a message after it was queued again; the next turn does not repeat it.
    case "message:acknowledged":
    case "message:expired":
    case "message:rejected":
      book.messages.get(event.data.messageId)!.isQueued = false;
      return;
    case "task:delegating": {
      const attempt = ledger.active.get(event.data.taskId);
      if (attempt) attempt.hasDelegated = true;
      return;
    }
    case "task:rejected":
      return checkRejections(checked, book, before, event.data);
    case "plan:extended":
      if (before.template.team?.continuous) stage.count("cycles planned");
      return checkRounds(checked, before, event.data);
    case "worker:failed":
    case "worker:timeout": {
      const { code } = event.data;
      book.failures = { code, count: book.failures.code === code ? book.failures.count + 1 : 1 };
      if (event.type === "worker:timeout") checkMail(checked, book, event.data);
      return;
    }
    case "breaker:open":
      stage.count("circuits broken");
      book.failures = { code: "", count: 0 };
      return;
    case "worker:completed":
      book.failures = { code: "", count: 0 };
      return;
    case "orchestrator:completed": {
      const isFinished = !before.template.team?.continuous || stage.finished.has(stage.rootOf(before.id));
      return stage.require(isFinished, "cycles", () => `${before.id} ends, but its lead has not planned the end`);
    }
    case "task:submitted":
      return checkReturned(checked, book, before, event.data.taskId);
    case "lead:completed":
      return checkReturned(checked, book, before, null);
    case "gate:opened":
      return checkApproval(checked, ledger, before, event);
    case "gate:overridden": {
      stage.count("gates overridden");
      stage.require(stage.overridden.has(before.id), "gate", () => `the user has not overridden ${before.id}`);
      book.approval = { ...approvalOf(ledger, before, event.data.commit), expiresAt: Infinity };
      return;
    }
    case "gate:closed":
      book.approval = null;
      return;
    case "turn:started":
      if (event.data.taskId !== null) checkDeployment(checked, ledger, before, event);
      return;
    default:
      return;
  }
}

function checkDelivery({ stage }: Checked, book: TeamBook, id: string): void {
  const booked = book.messages.get(id)!;
  booked.isQueued = false;
  booked.deliveries++;
  const { message, deliveries, allowed } = booked;
  const isInTime = deliveries <= allowed;
  stage.require(isInTime, "messages", () => `${message.type} ${id} is delivered ${deliveries} times, of ${allowed}`);
}

const NOTICED_WITHIN_MS = 5000;

/** A role outside that has reported does not time out: each of its reports is in the log. */
function checkMail(
  { stage, machine }: Checked,
  book: TeamBook,
  { sessionId, taskId }: EventData<"worker:timeout">,
): void {
  const process = machine.processes.get(sessionId);
  if (process?.spec.agent !== OUTSIDE) return;
  const isReport = ({ message }: BookedMessage) =>
    message.sessionId === sessionId && message.type === "completion_report";
  const noted = [...book.messages.values()].filter(isReport).length;
  const due = [...process.claims.keys()].filter((at) => at + NOTICED_WITHIN_MS < stage.loop.now).length;
  stage.require(noted >= due, "mail", () => `${taskId} timed out, but its role outside has reported`);
}

/** After a batch: a continuous run does not go on after too many failures of the same kind. */
export function checkBreaker({ stage }: Checked, { team }: Ledger, { id, template, status }: Run): void {
  const { continuous = false, breaker = Infinity } = template.team ?? {};
  if (!continuous || status !== "running") return;
  const { code, count } = team.failures;
  stage.require(count < breaker, "cycles", () => `${id} goes on after ${count} failures (${code}), of ${breaker}`);
}

/** After a batch that starts turns: no message to one of these sessions is left behind. */
export function checkNothingQueued(
  { stage }: Checked,
  { team }: Ledger,
  run: Run,
  events: readonly StoredEvent[],
): void {
  const started = events.flatMap((event) => (event.type === "turn:started" ? [event.data] : []));
  if (started.length === 0 || team.messages.size === 0) return;
  const left = [...team.messages.values()].find(({ isQueued, message }) => {
    if (!isQueued || message.type === "attempt_completion") return false;
    return started.some(({ sessionId, taskId }) => taskId !== null && sessionId === message.sessionId);
  });
  stage.require(
    !left,
    "messages",
    () => `a turn of ${run.id} starts without ${left?.message.type} ${left?.message.id}`,
  );
}

/** The prompt of a turn, or the mailbox that it names, has the newest message to the session. */
export function checkPrompt({ stage, machine, ledgers }: Checked, process: Process, turn: Turn): void {
  const { spec } = process;
  const ledger = ledgers.get(spec.runId);
  const run = ledger?.run;
  if (!ledger || !run?.template.roles || spec.taskId === null || turn.phase !== "workerExecution") return;
  const { role } = run.tasks.find(({ id }) => id === spec.taskId) ?? {};
  const mine = [...ledger.team.messages.values()].filter(
    ({ message }) => message.sessionId === spec.sessionId && message.to === role,
  );
  const newest = mine.findLast(({ message }) => message.type !== "attempt_completion")?.message;
  // A mode that continues with a report gets that instead.
  if (!newest || newest.protocol === "delegation") return;
  const isInBox = () =>
    machine.boxOf(spec.runId, "developer").messages.some((each) => canonicalJson(each) === canonicalJson(newest.body));
  const isGiven = () => canonicalJson(turn.message ?? null) === canonicalJson(newest.body);
  const isInPrompt = () => turn.text.includes(JSON.stringify(newest.body, null, 2));
  const isThere = { mailbox: isInBox, tools: isGiven }[newest.protocol] ?? isInPrompt;
  stage.count("messages that reached their role");
  stage.require(isThere(), "messages", () => `${spec.sessionId} gets turn ${turn.number} without ${newest.type}`);
}

/** A role submits work again, and a parent delegates again, only as often as the template allows. */
function checkRejections(
  { stage }: Checked,
  { rejections }: TeamBook,
  before: Run,
  { taskId, sessionId }: EventData<"task:rejected">,
): void {
  const isDelegated = before.tasks.find(({ id }) => id === taskId)?.delegation !== undefined;
  const key = isDelegated ? taskId : sessionId;
  const count = (rejections.get(key) ?? 0) + 1;
  rejections.set(key, count);
  const limit = limitOf(before);
  stage.count("work rejected");
  stage.require(count <= limit, "rework", () => `${taskId} is rejected ${count} times, of ${limit}`);
}

const limitOf = ({ template }: Run): number => template.team?.rejectionLimit ?? 2;

/** A refused review is repeated only as often as the template allows. */
function checkRounds({ stage }: Checked, before: Run, { tasks, added }: EventData<"plan:extended">): void {
  const { roles } = before.template;
  const reviews = tasks.filter(({ role }) => isAuditor(roles, role)).length;
  if (added.some((id) => id.includes("_fix_"))) stage.count("reviews repeated");
  const limit = 1 + limitOf(before);
  stage.require(!before.template.pipeline || reviews <= limit, "rework", () => `${reviews} reviews, of ${limit}`);
}

/** A session reports after every task that it delegated has returned to it. */
function checkReturned({ stage }: Checked, book: TeamBook, before: Run, parent: string | null): void {
  const children = before.tasks.filter(({ delegation }) => delegation && delegation.parent === parent);
  const session = parent === null ? null : before.workers[parent]?.sessionId;
  for (const { id, delegation } of children) {
    if (parent !== null && delegation!.session !== session) continue;
    const reports = [...book.messages.values()].filter(
      ({ message, acted }) => message.type === "attempt_completion" && message.taskId === id && acted > 0,
    );
    stage.require(
      reports.length > 0,
      "returns",
      () => `${id} of ${before.id} never returned to ${parent ?? "the lead"}`,
    );
  }
}

function approvalOf(ledger: Ledger, run: Run, commit: string): Omit<Approval, "expiresAt"> {
  const review = run.tasks.findLast(({ role }) => isAuditor(run.template.roles, role))!;
  const covers = dependenciesOf(run, review.id).map((id) => [id, ledger.completed.get(id)] as const);
  return { commit, covers: new Map(covers) };
}

/** Only a review that approves opens the gate, for the commit in its own workspace. */
function checkApproval(
  { stage, machine }: Checked,
  ledger: Ledger,
  before: Run,
  { data, timestamp }: StoredEvent & { type: "gate:opened" },
): void {
  const { commit, taskId, sessionId } = data;
  const process = machine.processes.get(sessionId);
  const worker = before.workers[taskId];
  const { role } = before.tasks.find(({ id }) => id === taskId) ?? {};
  const verdict = process?.verdicts.get(worker?.session.turns ?? 0);
  const { conditional, approvalTtl = Infinity } = before.template.gate?.environments["staging"] ?? {};
  const isApproved = verdict === "APPROVED" || (verdict === "CONDITIONAL" && conditional === true);
  stage.count("gates opened");
  stage.require(isAuditor(before.template.roles, role), "gate", () => `${role} has opened the gate of ${before.id}`);
  stage.require(isApproved, "gate", () => `${sessionId} has opened the gate with ${verdict}`);
  stage.require(worker?.session.start === commit, "gate", () => `${commit} is approved, not ${worker?.session.start}`);
  ledger.team.approval = { ...approvalOf(ledger, before, commit), expiresAt: timestamp + approvalTtl };
}

/** Every turn of a deployment needs an approval for its commit, and for the work as it is now. */
function checkDeployment(
  { stage }: Checked,
  ledger: Ledger,
  before: Run,
  event: StoredEvent & { type: "turn:started" },
): void {
  const { taskId } = event.data;
  const { role } = before.tasks.find(({ id }) => id === taskId) ?? {};
  if (!isDeployer(before.template.roles, role)) return;
  const { approval } = ledger.team;
  stage.count("deployments");
  if (!approval) return stage.fail("gate", `${taskId} of ${before.id} starts a turn without an approval`);
  const { start } = before.workers[taskId!]!.session;
  stage.require(start === approval.commit, "gate", () => `${start} is deployed, but ${approval.commit} is approved`);
  const [changed] = [...approval.covers].filter(([id, commit]) => ledger.completed.get(id) !== commit);
  stage.require(!changed, "gate", () => `${taskId} is deployed, but ${changed?.[0]} has changed since the review`);
  const late = event.timestamp - approval.expiresAt;
  stage.require(late < 0, "gate", () => `${taskId} is deployed ${late} ms after the approval has expired`);
}
