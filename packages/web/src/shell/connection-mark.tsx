import type { Connection } from "../../../tutti/src/client/follow-events.ts";

/** Whether what is on the screen is still being told, or only the last that was heard. */
export function ConnectionMark({ connection }: { connection: Connection }) {
  const live = connection === "live";
  return (
    <span className={`connection ${live ? "is-live" : "is-away"}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {live ? "Live" : connection === "connecting" ? "Connecting" : "Reconnecting"}
    </span>
  );
}
