import { translate } from "../text/language.ts";
import { Fragment } from "react";
import { Link } from "../shell/link.tsx";
import { runAddress } from "../shell/page-route.ts";
import { shown } from "../text/safe-text.ts";

/** `tasks` are both sides of a conflict. Each link leads to the changes of one. */
export function VersionLinks({ run, tasks }: { run: string; tasks: readonly string[] }) {
  return tasks.map((task, index) => (
    <Fragment key={task}>
      {index > 0 && translate(" and ")}
      <Link to={runAddress(run, { tab: "changes", task })}>{shown(task, 100)}</Link>
    </Fragment>
  ));
}
