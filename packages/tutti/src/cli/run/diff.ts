import type { Output } from "../terminal/output.ts";
import { findRunId } from "../access/find-run.ts";
import { readRuns } from "../access/open-runs.ts";
import { paintPatch } from "../terminal/paint-patch.ts";
import { streamOf } from "../terminal/streams.ts";
import { writeNew } from "../terminal/write-new.ts";
import { TuttiError } from "../../schema/error.ts";

/** Replaces bytes that are not UTF-8, also in the response of a server. */
const UNREADABLE = "\u{FFFD}";

export async function diff(
  output: Output,
  idPrefix: string,
  task: string | undefined,
  flags: { stat?: boolean; patch?: string },
): Promise<number> {
  const runs = await readRuns(output);
  const file = flags.patch;
  if (file !== undefined && flags.stat)
    throw new TuttiError("usage", "--stat and --patch exclude each other. Give only one of them.");
  const isShort = flags.stat === true || (output.json && file === undefined);
  const { base, head, files, stat } = await runs.diff(await findRunId(runs, idPrefix), { task, stat: isShort });
  const text = isShort ? stat : files.map(({ patch = "" }) => patch).join("");
  if (file !== undefined) writeNew(file, text);
  output.value({
    base,
    head,
    files: files.map(({ path, status, additions, deletions }) => ({ path, status, additions, deletions })),
    ...(file === undefined ? {} : { patch: file }),
  });
  // For a file or a pipe the text stays as git prints it, so that `git apply` can read it.
  if (text.includes(UNREADABLE)) output.warn(`Some text is not UTF-8. For its bytes use: git diff ${base} ${head}`);
  if (file !== undefined) output.result(`The patch is in ${file}. Apply it with: git apply ${file}`);
  else if (!output.json) {
    const stdout = streamOf("stdout");
    stdout.write(stdout.isTTY ? paintPatch(text, output.paint) : text);
  }
  return 0;
}
