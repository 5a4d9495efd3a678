import { CopyLine } from "../shell/copy-line.tsx";

export function EmptyList() {
  return (
    <section className="card empty">
      <h2>No runs yet</h2>
      <p>Run this command in a git repository. You confirm the plan before any worker starts.</p>
      <CopyLine label="Command that starts a run" text={'tutti run "document this project" --template documentation'} />
    </section>
  );
}
