import { describeProblem, withPeriod } from "./problem.ts";
import { Notice } from "../parts/notice.tsx";
import { AgentText } from "../text/agent-text.tsx";

export function ActionError({ error }: { error: unknown }) {
  if (error === null) return null;
  const { title, advice } = describeProblem(error);
  return (
    <Notice tone="bad">
      <AgentText text={`${withPeriod(title)} ${advice}`} max={500} />
    </Notice>
  );
}
