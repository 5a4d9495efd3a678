import { useEffect, useState } from "react";
import { server } from "../../shell/server.ts";
import { untilAnswered } from "../../errors/until-answered.ts";

/** The log does not contain `outputFiles`, so the server asks git. Null until the response. */
export function useOutputFiles(id: string, head: string | null): string[] | null {
  const [files, setFiles] = useState<string[] | null>(null);
  useEffect(() => {
    const unmounted = new AbortController();
    untilAnswered(() => server.result(id, unmounted.signal), unmounted.signal).then(
      ({ outputFiles }) => setFiles(outputFiles),
      () => {
        // The rest of the result comes from the log, so `ResultCard` works without the files.
      },
    );
    return () => unmounted.abort();
  }, [id, head]);
  return files;
}
