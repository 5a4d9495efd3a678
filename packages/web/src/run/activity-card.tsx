import { translate } from "../text/language.ts";
import type { ActivityLine } from "./activity.ts";
import { ActivityLines } from "./tabs/activity-lines.tsx";

export function ActivityCard({ activity }: { activity: readonly ActivityLine[] }) {
  return (
    <section className="card" aria-labelledby="activity-title">
      <h2 id="activity-title" className="card-title">
        {translate("Activity")}
      </h2>
      <ActivityLines lines={activity} />
    </section>
  );
}
