// Scripted roles of a team: each acknowledges its task and completes it; a review approves.
import { Scenario } from "../../src/session/drivers/script/scenario.ts";

type Message = Record<string, unknown>;

const STAMP = "2026-01-01T00:00:00.000Z";

export const say = (...messages: Message[]): string =>
  messages.map((message) => `\`\`\`json\n${JSON.stringify(message, null, 1)}\n\`\`\``).join("\nand\n");

export const message = (type: string, role: string, more: Message = {}): Message => ({
  message_type: type,
  task_id: "{TASK_ID}",
  from_agent: role,
  timestamp: STAMP,
  ...more,
});

export const acknowledgment = (role: string): Message =>
  message("TASK_ACKNOWLEDGMENT", role, { status: "acknowledged" });

export const completion = (role: string, more: Message = {}): Message =>
  message("TASK_COMPLETION", role, {
    status: "completed",
    output: { files: [], summary: `${role} is done` },
    validation: { all_passed: true, issues: [] },
    ...more,
  });

/** A complete approval. `more` replaces members. */
export const approval = (more: Message = {}): Message =>
  completion("SECURITY_AUDITOR", {
    approval_status: "APPROVED",
    output: { critical_issues: [], high_issues: [], medium_issues: [], low_issues: [], blocking_deployment: false },
    validation: {
      security_passed: true,
      production_readiness_passed: true,
      scalability_passed: true,
      all_passed: true,
    },
    ...more,
  });

export const rejection = (...issues: string[]): Message =>
  approval({
    approval_status: "REJECTED",
    output: { critical_issues: issues, blocking_deployment: true },
    validation: {
      security_passed: false,
      production_readiness_passed: true,
      scalability_passed: true,
      all_passed: false,
    },
  });

interface RoleTurn {
  say: string;
  tools?: string[];
  write?: Record<string, string>;
  then?: string;
}

export const role = (name: string, ...turns: RoleTurn[]) => ({
  match: { role: name },
  turns: turns.map((turn) => ({ tools: ["Read"], ...turn })),
});

export const worksAs = (name: string) =>
  role(name, { say: say(acknowledgment(name), completion(name)), write: { "{TASK_ID}.md": `by ${name}\n` } });

export const reviews = (...verdicts: Message[]) =>
  role("SECURITY_AUDITOR", ...verdicts.map((verdict) => ({ say: say(acknowledgment("SECURITY_AUDITOR"), verdict) })));

/** The main session of a team. */
export const leads = (...turns: RoleTurn[]) => ({ match: { role: "main" }, turns });
export const verdict = (more: Message = {}): RoleTurn => ({
  say: say({ message_type: "TASK_APPROVAL", task_id: "{TASK_ID}", ...more }),
});

const WORKERS = ["ARCHITECT", "DESIGNER", "DEVELOPER", "INTEGRATIONS", "TESTING", "DOCUMENTATION", "DEPLOYMENT"];

/** All roles of `feature`. The first matching entry wins, so `first` replaces the usual turns of a role. */
export function teamScenario(first: { match: object; turns: object[] }[] = []): Scenario["sessions"] {
  const sessions = [...first, ...WORKERS.map(worksAs), reviews(approval()), leads(verdict())];
  return Scenario.parse({ sessions }).sessions;
}
