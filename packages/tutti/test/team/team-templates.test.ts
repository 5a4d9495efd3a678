// Templates with roles: what is refused, and that a child keeps the gate of its parent.
import { describe, expect, it } from "vitest";
import { TemplateLab } from "../template/template-lab.ts";
import feature from "../../src/template/built-in/feature.json" with { type: "json" };

const resolve = (members: object, ...parents: [string, object][]) => {
  const lab = new TemplateLab();
  for (const [id, parent] of parents) lab.user(id, parent as never);
  lab.user("own", members as never);
  return () => lab.open().resolve("own").template;
};

const without = (id: string) => feature.pipeline.filter((step) => step.id !== id);
const changed = (id: string, change: object) =>
  feature.pipeline.map((step) => (step.id === id ? { ...step, ...change } : step));

describe("a template that inherits from a team with a gate", () => {
  it("may add roles, agents and stricter policies", () => {
    const roles = { DEVELOPER: { agent: "codex" } };
    const gate = {
      environment: "production",
      environments: { staging: { override: true }, production: { override: false } },
    };
    const team = { rejectionLimit: 1 };
    const template = resolve({ extends: "feature", roles, gate, team })();
    expect(template.roles!["DEVELOPER"]).toMatchObject({ agent: "codex", protocol: "messages" });
    expect(template.gate).toEqual(gate);
  });

  const refused: [string, object][] = [
    ["drops the review", { pipeline: without("security_auditor").map((step) => ({ ...step, after: [] })) }],
    ["drops the deployment", { pipeline: without("deployment") }],
    ["renames the review", { pipeline: changed("security_auditor", { id: "looks_good" }) }],
    ["gives the review to another role", { pipeline: changed("security_auditor", { role: "DEVELOPER" }) }],
    ["gives the deployment to another role", { pipeline: changed("deployment", { role: "DOCUMENTATION" }) }],
    ["deploys before the review", { pipeline: changed("deployment", { after: ["testing"] }) }],
    ["reviews before the work", { pipeline: changed("security_auditor", { after: ["architect"] }) }],
    ["reviews fewer files", { pipeline: changed("security_auditor", { filesToReview: ["README.md"] }) }],
    [
      "deploys after a review of its own",
      {
        roles: { DESIGNER: { workspace: "read", aliases: ["security-review"] } },
        pipeline: changed("deployment", { after: ["designer"] }),
      },
    ],
    ["shortens the review", { pipeline: changed("security_auditor", { requirements: ["Approve it."] }) }],
    ["changes the protocol of the review", { roles: { SECURITY_AUDITOR: { protocol: "response" } } }],
    ["lets the review report with tools", { roles: { SECURITY_AUDITOR: { protocol: "tools" } } }],
    ["lets its lead report with tools", { roles: { ORCHESTRATOR: { protocol: "tools" } } }],
    ["lets the review write", { roles: { SECURITY_AUDITOR: { workspace: "write" } } }],
    ["removes the pipeline", { pipeline: null }],
    ["removes the roles", { roles: null }],
    ["removes the role of the review", { roles: { SECURITY_AUDITOR: null } }],
    ["removes the gate", { gate: null }],
    ["plans by itself", { phases: { taskPlanning: { enabled: true } } }],
    ["has an unknown setting of a team", { team: { mood: "good" } }],
    ["has an unknown protocol", { roles: { DEVELOPER: { protocol: "smoke" } } }],
  ];
  it.each(refused)("is refused if it %s", (_, members) => {
    expect(resolve({ extends: "feature", ...members })).toThrow(/not valid|must|null|member/);
  });

  it("cannot weaken a policy that its parent states", () => {
    const strict = { override: false, conditional: false, approvalTtl: 1000 };
    const parent: [string, object] = ["strict", { extends: "feature", gate: { environments: { staging: strict } } }];
    for (const weaker of [{ override: true }, { conditional: true }, { approvalTtl: 2000 }]) {
      const gate = { environments: { staging: weaker } };
      expect(resolve({ extends: "strict", gate }, parent)).toThrow("as in the parent");
    }
    const moved = { environment: "easy", environments: { easy: { override: true } } };
    expect(resolve({ extends: "strict", gate: moved }, parent)).toThrow("as in the parent");
  });

  it.each(["team-lead", "modes"])("has no deployment, and cannot add one without a pipeline, as in %s", (parent) => {
    const deployer = parent === "modes" ? { protocol: "delegation" } : {};
    expect(resolve({ extends: parent, roles: { DEPLOYMENT: deployer } })).toThrow("needs a pipeline");
    expect(resolve({ extends: parent, roles: { RELEASE: { ...deployer, aliases: ["DEPLOYMENT"] } } })).toThrow(
      "needs a pipeline",
    );
    expect(resolve({ extends: parent, gate: { environments: { staging: {} } } })).toThrow("needs a pipeline");
  });

  it("has no role for a deployment without a step for it, because another role could delegate to it (W13)", () => {
    expect(resolve({ extends: "design-only", roles: { DEPLOYMENT: { protocol: "messages" } } })).toThrow(
      "needs a pipeline with a security review",
    );
  });

  it("has no role outside that does not work on the mailbox, also if its lead delegates", () => {
    expect(resolve({ extends: "modes", roles: { code: { agent: "outside" } } })).toThrow('must be "mailbox"');
    expect(resolve({ extends: "feature", roles: { DEVELOPER: { agent: "outside" } } })).toThrow('must be "mailbox"');
  });

  it("cannot hide the deployment behind an alias", () => {
    const roles = { RELEASE: { protocol: "messages", aliases: ["DEPLOYMENT"] } };
    const step = {
      id: "release",
      role: "RELEASE",
      title: "x",
      requirements: ["x"],
      acceptanceCriteria: ["x"],
      after: ["testing"],
    };
    expect(resolve({ extends: "feature", roles, pipeline: [...feature.pipeline, step] })).toThrow("security review");
  });
});
