import { translate } from "../text/language.ts";
import { recentLines } from "./activity.ts";
import { ActivityLines } from "./tabs/activity-lines.tsx";
import type { StoredEvent } from "../../../tutti/src/schema/event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

export function ActivityCard({ run, recent }: { run: Run; recent: readonly StoredEvent[] }) {
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        {translate("Activity")}
      </h2>
      <ActivityLines lines={recentLines(recent, run)} />
    </section>
  );
}
