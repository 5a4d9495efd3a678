import { translate } from "../text/language.ts";
import { useState } from "react";
import { Badge } from "../parts/badge.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { ActionError } from "../errors/action-error.tsx";
import { Link } from "../shell/link.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { runAddress } from "../shell/page-route.ts";
import { navigateAfter } from "../shell/route.ts";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { useLive } from "../live/use-live.ts";
import { AgentText } from "../text/agent-text.tsx";
import { moment } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { ScheduleView, TriggerView } from "../../../tutti/src/schema/api/schedule-routes.ts";
import "../styles/run.css";

export function SchedulesPage() {
  const [started, setStarted] = useState(0);
  // A run that starts or ends changes the rows, hence `changed`.
  const changed = useLive((state) => state.runs?.map(({ status }) => status).join(" ") ?? "");
  const key = `${started} ${changed}`;
  const schedules = useRequest(`schedules ${key}`, (signal) => server.call("GET /api/schedules", { signal }));
  const triggers = useRequest(`triggers ${key}`, (signal) => server.call("GET /api/triggers", { signal }));
  usePageTitle(translate("Schedules"));
  const runNow = async (name: string) => {
    const goTo = navigateAfter();
    const { orchestratorId } = await server.call("POST /api/schedules/:name/run", { params: { name } });
    setStarted(started + 1);
    goTo(runAddress(orchestratorId));
  };
  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{translate("Schedules")}</h1>
      </div>
      <ActionError error={schedules.error ?? triggers.error} />
      {schedules.value?.length === 0 && triggers.value?.length === 0 && (
        <section className="card empty">
          <h2>{translate("No schedules and no triggers")}</h2>
          <p>
            {translate('Add one under "schedules" or "triggers" in tutti.config.json, then start the server again.')}
          </p>
        </section>
      )}
      {schedules.value?.map((schedule) => (
        <section
          key={schedule.name}
          className="card run-tab"
          aria-label={translate("Schedule {name}", { name: schedule.name })}
        >
          <Head view={schedule}>
            <OrderButton
              word={translate("Run now")}
              command={`tutti schedules run ${shellQuote(schedule.name)}`}
              label={translate("Run now: {name}", { name: schedule.name })}
              disabled={schedule.problem !== null}
              reason={schedule.problem === null ? undefined : shown(schedule.problem, 200)}
              order={() => runNow(schedule.name)}
            />
          </Head>
          <FactList
            rows={[
              [translate("Cron"), `${schedule.cron} (${schedule.timeZone})`],
              [translate("Next"), schedule.nextDue === null ? null : moment(Date.parse(schedule.nextDue))],
              [translate("Last skipped"), skipped(schedule)],
              ...common(schedule),
            ]}
          />
          <LastRun view={schedule} />
        </section>
      ))}
      {triggers.value?.map((trigger) => (
        <section
          key={trigger.name}
          className="card run-tab"
          aria-label={translate("Trigger {name}", { name: trigger.name })}
        >
          <Head view={trigger} />
          <FactList rows={[[translate("Address"), `POST /api/triggers/${trigger.name}`], ...common(trigger)]} />
          <LastRun view={trigger} />
        </section>
      ))}
    </div>
  );
}

function Head({ view, children }: { view: ScheduleView | TriggerView; children?: React.ReactNode }) {
  const isOn = view.enabled && view.problem === null;
  return (
    <div className="tab-row-head">
      <h2>
        <AgentText text={view.name} max={80} />
      </h2>
      <Badge tone={isOn ? "good" : "neutral"} icon={isOn ? "check" : "minus"}>
        {view.enabled ? shown(view.problem ?? translate("Ready"), 200) : translate("Disabled")}
      </Badge>
      <span className="push" />
      {children}
    </div>
  );
}

const common = ({ template, cwd, confirm, running, maxConcurrent }: ScheduleView | TriggerView) =>
  [
    [translate("Template"), template],
    [translate("Folder"), cwd],
    [translate("Plans"), confirm === "yes" ? translate("are confirmed without you") : translate("wait for you")],
    [translate("At work"), translate("{running} of at most {maxConcurrent}", { running, maxConcurrent })],
  ] as const;

const skipped = ({ lastSkipped }: ScheduleView): string | null =>
  lastSkipped === null ? null : `${moment(Date.parse(lastSkipped.due))}: ${lastSkipped.reason}`;

function LastRun({ view: { lastRun } }: { view: ScheduleView | TriggerView }) {
  if (lastRun === null) return <p className="muted">{translate("It has started no run yet.")}</p>;
  const { id, status, outcome, createdAt } = lastRun;
  return (
    <p>
      {translate("Last run:")} <Link to={runAddress(id)}>{id}</Link>, {outcome ?? status},{" "}
      {moment(Date.parse(createdAt))}
    </p>
  );
}
