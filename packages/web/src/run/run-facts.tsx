import type { ReactNode } from "react";
import { runTime } from "./clock.ts";
import { templateIcon } from "./template-look.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";
import type { IconName } from "../parts/icon-shapes.ts";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../shell/use-now.ts";
import { AgentText } from "../text/agent-text.tsx";
import { agentName, compact, count, duration, lastPart, money } from "../text/format.ts";
import { visible } from "../text/safe-text.ts";

export function RunFacts({ run }: { run: Run }) {
  const over = isRunOver(run.status);
  const now = useNow(!over && run.startedAt !== null && run.idleSince === null);
  const elapsed = runTime(run, now);
  const { inputTokens, outputTokens, usd } = run.usage;
  const tokens = inputTokens + outputTokens;
  return (
    <dl className="facts">
      <Fact name={over ? "Duration" : "Elapsed"} icon="clock" title="Time at work, without pauses and waits for you">
        {elapsed === null ? "not started" : duration(elapsed)}
      </Fact>
      <Fact name="Usage" icon="coins" title={`${count(inputTokens)} in, ${count(outputTokens)} out`}>
        {tokens === 0 ? "no tokens" : `${compact(tokens)} tokens`}
        {usd > 0 && ` · ${money(usd)}`}
        {run.budget.usd !== undefined && ` of ${money(run.budget.usd)}`}
      </Fact>
      <Fact name="Template" icon={templateIcon(run.template.ui)} color={run.template.ui.color}>
        {run.templateId}
      </Fact>
      <Fact name="Agent" icon="tool" title={visible(run.agent)}>
        <AgentText text={agentName(run.agent)} max={80} />
      </Fact>
      {run.head !== null && (
        <Fact name="Branch" icon="branch">
          <span className="mono">{`tutti/${run.id}`}</span>
        </Fact>
      )}
      <Fact name="Folder" icon="folder" title={visible(run.cwd)}>
        <AgentText text={lastPart(run.cwd)} max={80} />
      </Fact>
    </dl>
  );
}

interface FactProperties {
  name: string;
  icon: IconName;
  title?: string;
  color?: string;
  children: ReactNode;
}

function Fact({ name, icon, title, color, children }: FactProperties) {
  return (
    <div className="fact" title={title ?? name}>
      <dt style={color === undefined ? undefined : { color }}>
        <Icon name={icon} size={14} />
        <span className="visually-hidden">{name}</span>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}
