import { translate } from "../text/language.ts";
import { Link } from "./link.tsx";
import { RUNS } from "./page-route.ts";

export function NotFoundPage() {
  return (
    <div className="page">
      <section className="card empty">
        <h1>{translate("Page not found")}</h1>
        <p>
          <Link to={RUNS}>{translate("Go to the list of runs")}</Link>
        </p>
      </section>
    </div>
  );
}
