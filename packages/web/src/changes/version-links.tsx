import { Fragment } from "react";
import { Link } from "../shell/link.tsx";
import { changesAddress } from "../shell/page-route.ts";

/** Both sides of a conflict: a link to the changes of each task. */
export function VersionLinks({ run, tasks }: { run: string; tasks: readonly string[] }) {
  return tasks.map((task, index) => (
    <Fragment key={task}>
      {index > 0 && " and "}
      <Link to={changesAddress(run, task)}>{task}</Link>
    </Fragment>
  ));
}
