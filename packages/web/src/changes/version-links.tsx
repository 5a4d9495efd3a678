import { Fragment } from "react";
import { Link } from "../shell/link.tsx";
import { runAddress } from "../shell/page-route.ts";

/** Both sides of a conflict: a link to the changes of each task. */
export function VersionLinks({ run, tasks }: { run: string; tasks: readonly string[] }) {
  return tasks.map((task, index) => (
    <Fragment key={task}>
      {index > 0 && " and "}
      <Link to={runAddress(run, { tab: "changes", task })}>{task}</Link>
    </Fragment>
  ));
}
