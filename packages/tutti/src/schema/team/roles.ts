// The roles of a template (`TeamRole`) and its fixed pipeline. A run of a template with `roles` is a team: a role does
// each task of the pipeline and speaks the role's protocol.
import { z } from "zod";
import { RESERVED_TASK_IDS } from "../ids.ts";
import { HostLabels, ModelName, TaskId } from "../task.ts";

export const RoleName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,60}$/, "must be a name of letters, digits, _ and -");

export const DEFAULT_REJECTION_LIMIT = 2;
export const DEFAULT_RESEND_LIMIT = 1;
export const DEFAULT_ACK_TIMEOUT_MS = 300_000;
export const DEFAULT_BREAKER = 3;
const MAX_TIME_MS = 604_800_000;
export const DEFAULT_RECYCLE_AFTER = 30;
export const DEFAULT_RECYCLE_AT = 0.7;
export const DEFAULT_CONTEXT_WINDOW = 200_000;

/**
 * `ROLE_PROTOCOLS`: messages of document 003, files of document 001, `new_task` of document 002, the MCP tools of Tutti,
 * or the delimited response of document 000.
 */
const ROLE_PROTOCOLS = ["messages", "mailbox", "delegation", "tools", "response"] as const;

/** Another process plays a role with the agent `OUTSIDE`. Tutti starts nothing for it. */
export const OUTSIDE = "outside";

export const TeamRole = z.strictObject({
  /** Other names under which the role may send messages. */
  aliases: z.array(RoleName).default([]),
  /** Defaults to the run's agent. */
  agent: z.string().min(1).optional(),
  model: ModelName.optional(),
  /** `HostLabels` of the worker hosts that may run the role. */
  labels: HostLabels.optional(),
  protocol: z.enum(ROLE_PROTOCOLS).default("response"),
  /** With `read`, changes that the role makes in its workspace stay out of the result. */
  workspace: z.enum(["write", "read"]).default("write"),
});
export type TeamRole = z.infer<typeof TeamRole>;
export type TeamRoles = Record<string, TeamRole>;

export const TeamSettings = z.strictObject({
  /** How often a role may submit a rejected task again, and how often a refused review is repeated. */
  rejectionLimit: z.number().int().min(0).max(20).default(DEFAULT_REJECTION_LIMIT),
  /** Milliseconds after which a message that a role did not acknowledge is sent again. */
  ackTimeout: z.number().int().min(1).max(MAX_TIME_MS).default(DEFAULT_ACK_TIMEOUT_MS),
  /** How often a message is sent again after `ackTimeout` before it expires. */
  resendLimit: z.number().int().min(0).max(20).default(DEFAULT_RESEND_LIMIT),
  /**
   * Milliseconds that a role has for a task. Then the role is reminded, and after as much time again the user is asked.
   * Without it only deadlines that another role gives count.
   */
  deadline: z.number().int().min(1).max(MAX_TIME_MS).optional(),
  /** Whether the lead plans again when all tasks have ended, until it plans no task. */
  continuous: z.boolean().default(false),
  /** How many failures of the same kind in a row pause a `continuous` run. */
  breaker: z.number().int().min(1).max(100).default(DEFAULT_BREAKER),
  /** Turns after which the main session of a team that delegates is replaced, whatever the size of its context. */
  recycleAfter: z.number().int().min(1).default(DEFAULT_RECYCLE_AFTER),
  /** The part of its context window at which that session is replaced. */
  recycleAt: z.number().min(0.01).max(1).default(DEFAULT_RECYCLE_AT),
  /** The size of that window in tokens, if the agent does not report it. */
  contextWindow: z.number().int().min(1000).default(DEFAULT_CONTEXT_WINDOW),
});

const sentences = z.array(z.string().min(1));

export const PipelineStep = z.strictObject({
  /** Also the id of the step's task. */
  id: TaskId,
  role: RoleName,
  title: z.string().min(1),
  requirements: sentences.min(1),
  acceptanceCriteria: sentences.min(1),
  /** Ids of earlier steps that must be complete before this one starts. */
  after: z.array(TaskId).default([]),
  filesToReview: sentences.optional(),
});
export type PipelineStep = z.infer<typeof PipelineStep>;

/** The spellings of one role in the documents, after `slug`. */
const AUDITOR = new Set(["security-auditor", "security-review", "security-and-production-readiness"]);
const DEPLOYER = new Set(["deployment"]);
const DEVELOPER = new Set(["developer", "code", "coder"]);
const LEAD = new Set(["orchestrator", "team-lead"]);
const MEDIATOR = new Set(["mediator"]);

/** Ignores case and separators of `name`. */
export const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

const isNamed = (names: ReadonlySet<string>, roles: TeamRoles | undefined, name: string | undefined): boolean => {
  if (name === undefined) return false;
  const aliases = roles && Object.hasOwn(roles, name) ? roles[name]!.aliases : [];
  return [name, ...aliases].some((each) => names.has(slug(each)));
};

/** An alias counts, so that another name for the security review (`AUDITOR`) does not avoid the gate. */
export const isAuditor = (roles: TeamRoles | undefined, name: string | undefined): boolean =>
  isNamed(AUDITOR, roles, name);
export const isDeployer = (roles: TeamRoles | undefined, name: string | undefined): boolean =>
  isNamed(DEPLOYER, roles, name);
export const isDeveloper = (roles: TeamRoles | undefined, name: string | undefined): boolean =>
  isNamed(DEVELOPER, roles, name);

export const boxOf = (role: string): string => slug(role);

export const hasMailbox = (roles: TeamRoles | undefined): boolean =>
  Object.values(roles ?? {}).some(({ protocol }) => protocol === "mailbox");

export const hasOutsideRole = (roles: TeamRoles | undefined): boolean =>
  Object.values(roles ?? {}).some(({ agent }) => agent === OUTSIDE);

/** All roles but `leadOf` the team. */
export const workingRoles = (roles: TeamRoles): string[] => Object.keys(roles).filter((name) => name !== leadOf(roles));

/** Returns a sentence for each role that cannot have its `protocol` or the agent `OUTSIDE`. */
export function findRoleProblems(roles: TeamRoles): { path: (string | number)[]; message: string }[] {
  const problems = Object.entries(roles).flatMap(([name, { agent, protocol }]) => {
    if (protocol === "tools" && name === leadOf(roles))
      return [{ path: ["roles", name, "protocol"], message: 'cannot be "tools" for the lead, which has no task' }];
    if (agent !== OUTSIDE) return [];
    if (name === leadOf(roles)) return [{ path: ["roles", name, "agent"], message: "cannot be outside for the lead" }];
    if (protocol === "mailbox") return [];
    return [{ path: ["roles", name, "protocol"], message: 'must be "mailbox" for an agent outside' }];
  });
  return problems;
}

/** `name` may be an alias, in any spelling (`slug`). */
export const roleNamed = (roles: TeamRoles, name: string): string | undefined =>
  Object.keys(roles).find((each) => isNamed(new Set([slug(name)]), roles, each));

/** A mediator settles conflicts which another role reports. Returns `undefined` if the team has none. */
export const mediatorOf = (roles: TeamRoles): string | undefined =>
  Object.keys(roles).find((name) => isNamed(MEDIATOR, roles, name));

/**
 * The lead is the role of the main session: it assigns, approves and rejects. `ORCHESTRATOR` if no role has a name of
 * `LEAD`.
 */
export const leadOf = (roles: TeamRoles): string =>
  Object.keys(roles).find((name) => isNamed(LEAD, roles, name)) ?? "ORCHESTRATOR";

/** Returns a sentence for each `PipelineStep` that cannot run, with the path of the step. */
export function findPipelineProblems(
  roles: TeamRoles,
  pipeline: readonly PipelineStep[],
): { path: (string | number)[]; message: string }[] {
  const known = new Map<string, PipelineStep>();
  return pipeline.flatMap((step, index) => {
    const problems: string[] = [];
    if (!Object.hasOwn(roles, step.role)) problems.push(`the role "${step.role}" is not in roles`);
    if (known.has(step.id) || RESERVED_TASK_IDS.has(step.id)) problems.push(`the id "${step.id}" is in use already`);
    for (const id of step.after) if (!known.has(id)) problems.push(`"${id}" is no earlier step`);
    if (isDeployer(roles, step.role) && !step.after.some((id) => isAuditor(roles, known.get(id)?.role))) {
      problems.push("a deployment must come directly after a security review");
    }
    known.set(step.id, step);
    return problems.map((message) => ({ path: ["pipeline", index], message }));
  });
}
