import { translate } from "../text/language.ts";
import type { Connection } from "../../../tutti/src/client/follow-events.ts";

export function ConnectionMark({ connection }: { connection: Connection }) {
  const live = connection === "live";
  return (
    <span className={`connection ${live ? "is-live" : "is-away"}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {live ? translate("Live") : connection === "connecting" ? translate("Connecting") : translate("Reconnecting")}
    </span>
  );
}
