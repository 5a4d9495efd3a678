import { translate } from "../../text/language.ts";
import { useState } from "react";
import { Badge } from "../../parts/badge.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { ActionError } from "../../errors/action-error.tsx";
import { OrderButton } from "../../shell/order-button.tsx";
import { server } from "../../shell/server.ts";
import { useRequest } from "../../shell/use-request.ts";
import { AgentText } from "../../text/agent-text.tsx";
import { AgentQuote } from "../../text/agent-words.tsx";
import { clock, moment, plural } from "../../text/format.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { LongText } from "../../text/long-text.tsx";
import { MixedList, MixedText } from "../../text/mixed-text.tsx";
import type { Answered } from "../../../../tutti/src/client/call-route.ts";
import type { Severity } from "../../../../tutti/src/run/describe-event.ts";
import type { Run } from "../../../../tutti/src/schema/run.ts";
import type { IconName } from "../../parts/icon-shapes.ts";
import type { TeamMessage } from "../../../../tutti/src/schema/team/team-message.ts";

interface StateLook {
  word: string;
  tone: Severity;
  icon: IconName;
}

const STATES: Record<TeamMessage["state"], StateLook> = {
  queued: { word: translate("queued"), tone: "neutral", icon: "dot" },
  delivered: { word: translate("delivered"), tone: "running", icon: "dot" },
  acknowledged: { word: translate("acknowledged"), tone: "running", icon: "dot" },
  acted: { word: translate("acted"), tone: "good", icon: "check" },
  rejected: { word: translate("rejected"), tone: "bad", icon: "cross" },
  expired: { word: translate("expired"), tone: "warning", icon: "clock" },
};

/** Newest message first. `gates` are the security gates of the team. */
export function MessagesTab({ run }: { run: Run }) {
  const messages = (run.teamMessages ?? []).toReversed();
  const { value: gates, error } = useRequest(`${run.id} ${JSON.stringify(run.gate ?? null)}`, (signal) =>
    server.call("GET /api/orchestrator/:id/gate", { params: { id: run.id }, signal }),
  );
  return (
    <>
      <ActionError error={error} />
      {gates?.map((gate) => (
        <Gate key={gate.environment} run={run} gate={gate} />
      ))}
      <section className="card run-tab" aria-labelledby="messages-title">
        <h2 id="messages-title">
          {translate("Messages")} <span className="muted">{plural(messages.length, "message")}</span>
        </h2>
        {messages.length === 0 && <p className="nothing-yet">{translate("The roles have not sent messages yet.")}</p>}
        <ol className="tab-rows">
          {messages.map(({ id, type, from, to, taskId, state, queuedAt, deliveries, reasons = [], body }) => (
            <li key={id}>
              <div className="tab-row-head">
                <time className="mono muted" dateTime={new Date(queuedAt).toISOString()} title={moment(queuedAt)}>
                  {clock(queuedAt)}
                </time>
                <StateBadge look={STATES[state]} />
                <strong>
                  <AgentText text={`${from} → ${to}`} max={120} />
                </strong>
                <AgentText text={type} max={60} />
                <code>{taskId}</code>
                {deliveries > 1 && <span className="chip">{translate("sent {deliveries} times", { deliveries })}</span>}
              </div>
              {reasons.map((reason) => (
                <p key={reason} className="tone-bad">
                  <MixedText text={reason} isOfTutti />
                </p>
              ))}
              <details className="folded">
                <summary>{translate("Content")}</summary>
                <AgentQuote>
                  <LongText text={JSON.stringify(body, null, 2)} max={4000} mono />
                </AgentQuote>
              </details>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

/** A newer server may send a state that this page does not know. */
function StateBadge({ look }: { look: StateLook | undefined }) {
  if (look === undefined) return null;
  return (
    <Badge tone={look.tone} icon={look.icon}>
      {look.word}
    </Badge>
  );
}

type GateView = Answered<"GET /api/orchestrator/:id/gate">[number];

const GATES: Record<GateView["state"], StateLook> = {
  open: { word: translate("open#gate"), tone: "good", icon: "lock" },
  closed: { word: translate("closed#gate"), tone: "bad", icon: "lock" },
  overridden: { word: translate("overridden#gate"), tone: "warning", icon: "lock" },
};

function Gate({ run, gate }: { run: Run; gate: GateView }) {
  const [reason, setReason] = useState("");
  const { environment, state, commit, approvedBy, approvedAt, reasons, overrides } = gate;
  const canOverride = state === "closed" && run.template.gate?.environments[environment]?.override === true;
  return (
    <section className="card run-tab" aria-label={translate("Gate of {environment}", { environment })}>
      <div className="tab-row-head">
        <h2>{translate("Gate of {environment}", { environment })}</h2>
        <StateBadge look={GATES[state]} />
      </div>
      <FactList
        rows={[
          [translate("Commit"), commit?.slice(0, 12)],
          [translate("Approved by"), approvedBy],
          [translate("Approved at"), approvedAt === null ? null : moment(Date.parse(approvedAt))],
          [translate("Reasons"), reasons.length > 0 && <MixedList texts={reasons} />],
          [
            translate("Overridden"),
            overrides.map(({ by, reason: why }) => translate("by {by}: {why}", { by, why })).join("; "),
          ],
        ]}
      />
      {canOverride && (
        <div className="answer-row">
          <input
            className="field"
            aria-label={translate("Reason to open the gate of {environment}", { environment })}
            placeholder={translate("Reason to open the gate without an approval")}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
          <OrderButton
            word={translate("Open without approval")}
            danger
            needs="admin"
            disabled={reason.trim() === ""}
            command={`tutti override ${run.id} ${shellQuote(environment)} ${shellQuote(reason)}`}
            order={() =>
              server.call("POST /api/orchestrator/:id/gate/override", {
                params: { id: run.id },
                body: { environment, reason },
              })
            }
          />
        </div>
      )}
    </section>
  );
}
