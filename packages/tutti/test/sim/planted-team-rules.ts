// Planted bugs in the rules of teams.
import type { Patches } from "./planted-patches.ts";
import type { TeamBug } from "./planted.ts";
import { returnedTo } from "../../src/run/team/delegation.ts";
import { messageTo } from "../../src/run/team/team.ts";
import type { RunEvent } from "../../src/schema/event.ts";
import type { Run } from "../../src/schema/run.ts";
import type { TeamMessage } from "../../src/schema/team/team-message.ts";

const delivered = ({ id }: Run, message: TeamMessage | null): RunEvent[] =>
  message ? [{ type: "message:delivered", data: { id, messageId: message.id, taskId: message.taskId } }] : [];

export const TEAM_PATCHES: Record<TeamBug, Patches> = {
  "message-not-delivered": { deliverMessage: () => [] },
  "message-delivered-twice": { deliverMessage: (_, run, sessionId) => delivered(run, messageTo(run, sessionId)) },
  "message-lost-in-prompt": {
    renderTeamPrompt: (real, run, worker) => real(run, worker).replace(/```json[^]*```/, "```json\n{}\n```"),
  },
  "return-delivered-twice": { deliverReturned: (_, run, parent) => delivered(run, returnedTo(run, parent)) },
  "ending-never-returns": { returnEndings: () => [] },
  "gate-ignored": { isHeldBack: () => false },
  "every-review-approves": { judgeReview: () => ({ environments: ["staging"], reasons: [] }) },
  "rework-without-end": { rejectionLimit: () => 20 },
  "plans-only-once": { isContinuous: () => false },
  "mail-of-outside-unnoticed": {
    OutsideSession: (real) =>
      class extends real {
        constructor(options: ConstructorParameters<typeof real>[0]) {
          super({ ...options, hasMail: async () => false });
        }
      },
  },
  "breaker-ignored": { breakCircuit: () => [] },
};
