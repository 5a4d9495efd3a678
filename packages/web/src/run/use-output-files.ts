import { useEffect, useState } from "react";
import { server } from "../shell/server.ts";

/** The files that the run's branch changed. Only git knows them, so they are asked for; null until the answer is there. */
export function useOutputFiles(id: string, head: string | null): string[] | null {
  const [files, setFiles] = useState<string[] | null>(null);
  useEffect(() => {
    const over = new AbortController();
    server.result(id, over.signal).then(
      ({ outputFiles }) => setFiles(outputFiles),
      () => {
        // The rest of the result comes from the log and is there anyway.
      },
    );
    return () => over.abort();
  }, [id, head]);
  return files;
}
