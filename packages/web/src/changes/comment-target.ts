import { translate } from "../text/language.ts";
import { describeNote, type LineNote } from "./rework-notes.ts";
import { server } from "../shell/server.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";
import { isRunOver, isWorkerOver } from "../../../tutti/src/schema/status.ts";

export interface CommentTarget {
  name: string;
  verb: string;
  send: (note: LineNote) => Promise<void>;
}

/**
 * A worker receives comments while it works, the main session while the run works. `collect` gets the comments on the
 * result of an ended run, for a follow-up run.
 */
export function commentTarget(run: Run, task: string | null, collect: (note: LineNote) => void): CommentTarget {
  if (isRunOver(run.status)) {
    const send = async (note: LineNote) => collect(note);
    return { name: translate("Rework"), verb: translate("Add to the rework request"), send };
  }
  const worker = task === null ? undefined : run.workers[task];
  const receiver = worker && !isWorkerOver(worker.status) ? task : null;
  return {
    name: translate("Message to {receiver}", { receiver: receiver ?? translate("the main session") }),
    verb: translate("Send"),
    send: async (note) => {
      const text =
        receiver === null && task !== null
          ? `The work of ${task} needs a change.\n${describeNote(note)}`
          : describeNote(note);
      await server.order(run.id, "message", { text, ...(receiver !== null && { taskId: receiver }) });
    },
  };
}
