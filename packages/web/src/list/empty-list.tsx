import { translate } from "../text/language.ts";
import { CopyLine } from "../parts/copy-line.tsx";
import { Link } from "../shell/link.tsx";
import { NEW_RUN } from "../shell/page-route.ts";

export function EmptyList() {
  return (
    <section className="card empty">
      <h2>{translate("No runs yet")}</h2>
      <p>
        <Link to={NEW_RUN}>{translate("Start one here")}</Link>
        {translate(", or run this command in a git repository. You confirm the plan before any worker starts.")}
      </p>
      <CopyLine
        label={translate("Command that starts a run")}
        text={'tutti run "document this project" --template documentation'}
      />
    </section>
  );
}
