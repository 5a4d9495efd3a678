import { translate } from "../text/language.ts";
import { useState } from "react";
import { useLive } from "../live/use-live.ts";
import { Badge } from "../parts/badge.tsx";
import { CopyLine } from "../parts/copy-line.tsx";
import { FactList } from "../parts/fact-list.tsx";
import type { IconName } from "../parts/icon-shapes.ts";
import { Meter } from "../parts/meter.tsx";
import { ActionError } from "../errors/action-error.tsx";
import { AskedButton } from "../shell/asked-button.tsx";
import { OrderButton } from "../shell/order-button.tsx";
import { server } from "../shell/server.ts";
import { useNow } from "../shell/use-now.ts";
import { useRequest } from "../shell/use-request.ts";
import { AgentText } from "../text/agent-text.tsx";
import { ago, plural } from "../text/format.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { HostRow } from "../../../tutti/src/schema/api/host-routes.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";
import "../styles/run.css";
import "../styles/hosts.css";

/** A host renews its lease without an event, so the page asks every `REFRESH_MS`. */
const REFRESH_MS = 5000;

const LOOKS: Record<HostRow["state"], { word: string; tone: Severity; icon: IconName }> = {
  ready: { word: translate("Ready"), tone: "good", icon: "check" },
  draining: { word: translate("Draining"), tone: "warning", icon: "minus" },
  lost: { word: translate("Lost"), tone: "bad", icon: "warning" },
};

export function HostsPage() {
  const [changes, setChanges] = useState(0);
  const now = useNow(true, REFRESH_MS);
  const live = useLive((state) => state.connection) === "live";
  const key = live ? `${changes} ${now}` : null;
  const { value, error } = useRequest(key, (signal) =>
    server.call("GET /api/hosts", { query: { limit: 10_000 }, signal }),
  );
  usePageTitle(translate("Hosts"));
  const after = (order: Promise<unknown>) => order.then(() => setChanges((count) => count + 1));
  return (
    <div className="page page-form">
      <div className="page-title">
        <h1>{translate("Hosts")}</h1>
        <span className="muted">{value !== null && value.length > 0 && summaryOf(value)}</span>
      </div>
      <ActionError error={error} />
      {value === null && error === null && <p className="loading">{translate("Loading …")}</p>}
      {value?.length === 0 && (
        <section className="card empty">
          <h2>{translate("No worker hosts")}</h2>
          <p>
            {translate(
              "All sessions run on the machine of the server. To add another machine, run this command there.",
            )}
          </p>
          <CopyLine label={translate("Command that starts a worker host")} text="tutti worker --database-url URL" />
        </section>
      )}
      {value?.map((host) => (
        <HostCard
          key={host.id}
          host={host}
          now={now}
          onDrain={() => after(server.call("POST /api/hosts/:id/drain", { params: { id: host.id } }))}
          onUndrain={() => after(server.call("DELETE /api/hosts/:id/drain", { params: { id: host.id } }))}
          onRemove={() => after(server.call("DELETE /api/hosts/:id", { params: { id: host.id } }))}
        />
      ))}
    </div>
  );
}

const summaryOf = (hosts: HostRow[]): string => {
  const ready = hosts.filter(({ state }) => state === "ready");
  const sum = (of: (host: HostRow) => number) => hosts.reduce((total, host) => total + of(host), 0);
  return translate("{ready} of {hosts} ready, {sessions}", {
    ready: ready.length,
    hosts: plural(hosts.length, "host"),
    sessions: plural(
      sum(({ sessions }) => sessions),
      "session",
    ),
  });
};

interface CardProperties {
  host: HostRow;
  now: number;
  onDrain: () => Promise<unknown>;
  onUndrain: () => Promise<unknown>;
  onRemove: () => Promise<unknown>;
}

function HostCard({ host, now, onDrain, onUndrain, onRemove }: CardProperties) {
  const { id, name, labels, capacity, version, agents, state, tasks, sessions, seenAt } = host;
  const { word, tone, icon } = LOOKS[state];
  return (
    <section className="card run-tab" aria-label={translate("Host {name}", { name })}>
      <div className="tab-row-head">
        <h2>
          <AgentText text={name} max={80} />
        </h2>
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
        <div className="run-actions push">
          {state === "draining" ? (
            <OrderButton
              word={translate("Undrain")}
              command={`tutti hosts undrain ${id}`}
              label={translate("Undrain {name}", { name })}
              needs="admin"
              order={onUndrain}
            />
          ) : (
            <OrderButton
              word={translate("Drain")}
              command={`tutti hosts drain ${id}`}
              label={translate("Drain {name}", { name })}
              needs="admin"
              order={onDrain}
            />
          )}
          <AskedButton
            word={translate("Remove")}
            command={`tutti hosts remove ${id}`}
            label={translate("Remove {name}", { name })}
            question={translate("Remove {name}? Its login is revoked and its work is retried elsewhere.", { name })}
            yes={translate("Yes, remove")}
            needs="admin"
            order={onRemove}
          />
        </div>
      </div>
      <div className="host-load">
        <Meter value={sessions} max={capacity} tone={tone} label={translate("Load of {name}", { name })} />
        <span>{translate("{sessions} of {capacity}", { sessions, capacity: plural(capacity, "session") })}</span>
      </div>
      <FactList
        rows={[
          [translate("Id"), id],
          [
            translate("Labels"),
            Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(", "),
          ],
          [translate("Agents"), agents.join(", ")],
          [translate("Version"), version],
          [translate("Tasks"), tasks.join(", ")],
          [
            translate("Last seen"),
            seenAt === null ? translate("never: it was added and has not connected yet") : ago(Date.parse(seenAt), now),
          ],
        ]}
      />
    </section>
  );
}
