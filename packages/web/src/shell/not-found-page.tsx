import { TopBar } from "./top-bar.tsx";
import { Link } from "./link.tsx";
import { LIST } from "./route.ts";

export function NotFoundPage() {
  return (
    <>
      <TopBar />
      <main className="page">
        <section className="card empty">
          <h1>Page not found</h1>
          <p>
            <Link to={LIST}>Go to the list of runs</Link>
          </p>
        </section>
      </main>
    </>
  );
}
