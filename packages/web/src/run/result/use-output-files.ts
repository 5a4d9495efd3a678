import { useEffect, useState } from "react";
import { server } from "../../shell/server.ts";

/** The files that the run's branch changed. They are not in the log, so the server asks git. Null until the response. */
export function useOutputFiles(id: string, head: string | null): string[] | null {
  const [files, setFiles] = useState<string[] | null>(null);
  useEffect(() => {
    const unmounted = new AbortController();
    server.result(id, unmounted.signal).then(
      ({ outputFiles }) => setFiles(outputFiles),
      () => {
        // Ignore the error: the rest of the result comes from the log.
      },
    );
    return () => unmounted.abort();
  }, [id, head]);
  return files;
}
