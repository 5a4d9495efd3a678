// Draws the teams of a simulation: the shipped templates with roles, with random limits and a random gate.
import type { Random } from "./random.ts";
import designOnly from "../../src/template/built-in/design-only.json" with { type: "json" };
import feature from "../../src/template/built-in/feature.json" with { type: "json" };
import hotfix from "../../src/template/built-in/hotfix.json" with { type: "json" };
import modes from "../../src/template/built-in/modes.json" with { type: "json" };
import teamLead from "../../src/template/built-in/team-lead.json" with { type: "json" };
import { isAuditor, leadOf, OUTSIDE, TeamRole, type TeamRoles } from "../../src/schema/team/roles.ts";

/** Members of a template that make it a team; empty for most. `phases` replaces drawn phases. */
export interface DrawnTeam {
  members: object;
  phases: Record<string, object>;
}

const NO_TEAM: DrawnTeam = { members: {}, phases: {} };
const ON = { enabled: true };
const OFF = { enabled: false };

export function drawTeam(random: Random): DrawnTeam {
  const kind = random.weighted({ none: 76, gate: 9, mailbox: 6, delegation: 9 });
  if (kind === "none") return NO_TEAM;
  const team = {
    rejectionLimit: random.int(0, 2),
    resendLimit: random.int(0, 1),
    ackTimeout: random.pick([4000, 60_000]),
    ...(random.chance(0.3) ? { deadline: random.pick([5000, 20_000]) } : {}),
    recycleAfter: random.pick([2, 30]),
    contextWindow: random.pick([2000, 200_000]),
  };
  const phases = { analysis: OFF, taskPlanning: ON, workerExecution: ON, aggregation: OFF };
  if (kind === "mailbox") {
    const cycles = { continuous: random.chance(0.5), breaker: random.int(1, 3) };
    const { TEAM_LEAD, DEVELOPER } = teamLead.roles;
    const roles = { TEAM_LEAD, DEVELOPER: { ...DEVELOPER, ...(random.chance(0.4) ? { agent: OUTSIDE } : {}) } };
    return { members: { roles, team: { ...team, ...cycles } }, phases };
  }
  if (kind === "delegation") return { members: { roles: withTools(random, modes.roles), team }, phases };
  const staging = {
    override: random.chance(0.5),
    conditional: random.chance(0.3),
    ...(random.chance(0.3) ? { approvalTtl: random.pick([2000, 60_000]) } : {}),
  };
  const { roles, pipeline } = { hotfix, feature, designOnly }[
    random.weighted({ hotfix: 6, feature: 2, designOnly: 1 })
  ];
  const gate = { environment: "staging", environments: { staging } };
  const guarded = "DEPLOYMENT" in roles ? { gate } : {};
  const members = { roles: withTools(random, roles), pipeline, ...guarded, team };
  return { members, phases: { ...phases, taskPlanning: OFF } };
}

/** Some roles report with tools instead. Only messages can open the gate. */
function withTools(random: Random, given: Record<string, unknown>): TeamRoles {
  const roles = Object.fromEntries(Object.entries(given).map(([name, role]) => [name, TeamRole.parse(role)]));
  const isFixed = (name: string): boolean => name === leadOf(roles) || isAuditor(roles, name);
  return Object.fromEntries(
    Object.entries(roles).map(([name, role]) =>
      !isFixed(name) && random.chance(0.25) ? [name, { ...role, protocol: "tools" as const }] : [name, role],
    ),
  );
}
