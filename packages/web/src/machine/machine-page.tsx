import { sayCheck, translate } from "../text/language.ts";
import { useState } from "react";
import { TokensSection } from "./tokens-section.tsx";
import { useRefusal } from "../live/use-live.ts";
import { ActionError } from "../errors/action-error.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Link } from "../shell/link.tsx";
import { HOSTS } from "../shell/page-route.ts";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { usePageTitle } from "../text/use-page-title.ts";
import "../styles/machine.css";

const TONES = { ok: "good", warning: "warning", missing: "bad" } as const;
const ICONS = { ok: "check", warning: "warning", missing: "cross" } as const;

const STATUSES = {
  ok: translate("ok#check"),
  warning: translate("warning#check"),
  missing: translate("missing#check"),
};

export function MachinePage() {
  const refusal = useRefusal();
  const isAdmin = useRefusal("admin") === null;
  const doctor = useRequest(refusal === null ? "doctor" : null, (signal) => server.call("GET /api/doctor", { signal }));
  const { value: settings } = useRequest(refusal === null ? "settings" : null, (signal) =>
    server.call("GET /api/settings", { signal }),
  );
  usePageTitle(translate("Machine"));
  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{translate("Machine")}</h1>
        {settings && <span className="muted">{`Tutti ${settings.version}`}</span>}
        <Link to={HOSTS} className="push">
          {translate("Hosts")}
        </Link>
      </div>
      {refusal !== null && <Notice tone="warning">{refusal}</Notice>}
      <ActionError error={doctor.error} />
      {doctor.isLoading && <p className="loading">{translate("Checking the machine …")}</p>}
      {doctor.value && (
        <section className="card" aria-labelledby="checks-title">
          <h2 id="checks-title" className="card-title">
            {doctor.value.ok ? translate("Tutti can work here") : translate("Tutti cannot work here")}
          </h2>
          <ul className="checks">
            {doctor.value.checks.map(({ name, status, found, advice }, index) => (
              <li key={`${index} ${name}`}>
                <span className={`inline-mark tone-${TONES[status]}`}>
                  <Icon name={ICONS[status]} size={14} />
                  <span className="visually-hidden">{STATUSES[status]}</span>
                </span>
                <strong>{sayCheck(name)}</strong>
                <span>
                  <AgentText text={sayCheck(found)} max={400} />
                  {advice !== undefined && (
                    <span className="checks-advice muted">
                      <AgentText text={sayCheck(advice)} max={400} />
                    </span>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {settings && (
        <section className="card" aria-labelledby="settings-title">
          <h2 id="settings-title" className="card-title">
            {translate("Settings")}
          </h2>
          <dl className="evidence settings">
            {Object.entries({
              [translate("Data folder")]: settings.dataDir,
              [translate("Agent")]: settings.agent ?? "local",
              [translate("Template")]: settings.template ?? "documentation",
              [translate("Own agents")]: settings.agents.map(({ name }) => name).join(", "),
              [translate("Folders")]: settings.folders?.join(", ") ?? translate("all"),
              [translate("Retention")]: settings.retention
                ? JSON.stringify(settings.retention)
                : translate("all runs are kept"),
              [translate("Notifications")]: settings.notifications.targets.join(", ") || translate("none"),
            })
              .filter(([, value]) => value !== "")
              .map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    <AgentText text={value} max={400} />
                  </dd>
                </div>
              ))}
          </dl>
          <NotifyTest hasTargets={settings.notifications.targets.length > 0} />
        </section>
      )}
      {isAdmin && <TokensSection />}
    </div>
  );
}

function NotifyTest({ hasTargets }: { hasTargets: boolean }) {
  const [results, setResults] = useState<{ target: string; ok: boolean; detail: string }[]>([]);
  return (
    <div className="notify-test">
      <OrderButton
        word={translate("Send a test notification")}
        command={`tutti notify test`}
        disabled={!hasTargets}
        reason={hasTargets ? undefined : translate("No target is configured.")}
        order={async () => setResults((await server.call("POST /api/notify/test")).targets)}
      />
      {results.map(({ target, ok, detail }) => (
        <Notice key={target} tone={ok ? "good" : "bad"}>
          <AgentText text={`${target}: ${detail}`} max={300} />
        </Notice>
      ))}
    </div>
  );
}
