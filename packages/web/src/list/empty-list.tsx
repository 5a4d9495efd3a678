import { CopyLine } from "../shell/copy-line.tsx";

export function EmptyList() {
  return (
    <section className="card empty">
      <h2>No run yet</h2>
      <p>Type this in a repository of yours. The plan comes to you for confirmation before any worker starts.</p>
      <CopyLine label="Command that starts a run" text={'tutti run "document this project" --template documentation'} />
    </section>
  );
}
