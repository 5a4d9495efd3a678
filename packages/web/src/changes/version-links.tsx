import { translate } from "../text/language.ts";
import { Fragment } from "react";
import { Link } from "../shell/link.tsx";
import { runAddress } from "../shell/page-route.ts";
import { shown } from "../text/safe-text.ts";

interface Properties {
  run: string;
  tasks: readonly string[];
  files: readonly string[];
}

/** `tasks` are the sides of a conflict about `files`. Each link leads to the changes of one, the last one to two of them. */
export function VersionLinks({ run, tasks, files }: Properties) {
  const [first, second] = tasks;
  return (
    <>
      {tasks.map((task, index) => (
        <Fragment key={task}>
          {index > 0 && translate(" and ")}
          <Link to={runAddress(run, { tab: "changes", task })}>{shown(task, 100)}</Link>
        </Fragment>
      ))}
      {first !== undefined && second !== undefined && (
        <>
          {" ("}
          <Link
            to={runAddress(run, {
              tab: "changes",
              task: first,
              beside: second,
              find: files.length === 1 ? files[0]! : "",
            })}
          >
            {translate("side by side")}
          </Link>
          {")"}
        </>
      )}
    </>
  );
}
