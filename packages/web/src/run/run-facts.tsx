import { translate } from "../text/language.ts";
import type { ReactNode } from "react";
import { clockStepMs, runTime } from "./clock.ts";
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
  const now = useNow(!over && run.startedAt !== null && run.idleSince === null, clockStepMs(run));
  const elapsed = runTime(run, now);
  const { inputTokens, outputTokens, usd } = run.usage;
  const tokens = inputTokens + outputTokens;
  return (
    <dl className="facts">
      <Fact
        name={translate(over ? "Duration" : "Elapsed")}
        icon="clock"
        title={translate("Time at work, without pauses and waits for you")}
      >
        {elapsed === null ? translate("not started") : duration(elapsed)}
      </Fact>
      <Fact
        name={translate("Usage")}
        icon="coins"
        title={translate("{input} in, {output} out", { input: count(inputTokens), output: count(outputTokens) })}
      >
        {tokens === 0 ? translate("no tokens") : translate("{tokens} tokens", { tokens: compact(tokens) })}
        {usd > 0 && ` · ${money(usd)}`}
        {run.budget.usd !== undefined && translate(" of {usd}", { usd: money(run.budget.usd) })}
      </Fact>
      <Fact name={translate("Template")} icon={templateIcon(run.template.ui)} color={run.template.ui.color}>
        {run.templateId}
      </Fact>
      <Fact name={translate("Agent")} icon="tool" title={visible(run.agent)}>
        <AgentText text={agentName(run.agent)} max={80} />
      </Fact>
      {run.head !== null && (
        <Fact name={translate("Branch")} icon="branch">
          <span className="mono">{`tutti/${run.id}`}</span>
        </Fact>
      )}
      <Fact name={translate("Folder")} icon="folder" title={visible(run.cwd)}>
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
