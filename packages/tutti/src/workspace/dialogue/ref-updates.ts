// Changes refs with `UPDATE_REF` processes, each change in a transaction of its own. No change follows a symbolic ref.
import { git } from "../git.ts";
import { ask, type DialogueOptions } from "./git-dialogue.ts";

interface RefUpdate {
  ref: string;
  /** Null deletes the ref. */
  commit: string | null;
  /** The expected value: null if the ref must not exist, `undefined` if any value may be replaced. */
  old?: string | null;
}

const UPDATE_REF = ["update-ref", "--no-deref", "--stdin"];
const DONE = "start: ok\ncommit: ok\n";

export async function updateRef(update: RefUpdate, options: DialogueOptions): Promise<void> {
  const { ref, commit, old } = update;
  const purpose = `${commit === null ? "delete" : "set"} ${ref}`;
  const expected = old === undefined ? "" : ` ${old ?? "0".repeat(commit?.length ?? 0)}`;
  const change = commit === null ? `delete ${ref}${expected}` : `update ${ref} ${commit}${expected}`;
  const read = (output: string) => (output.startsWith(DONE) ? { value: null, length: DONE.length } : null);
  try {
    await ask(UPDATE_REF, { purpose, input: `start\n${change}\ncommit\n`, read }, options);
  } catch {
    // A rejected change ends the process, and with it the requests behind it. Repeating this one with a process of its
    // own finds out whether it is the rejected one, and reads the refs afresh.
    const args = commit === null ? ["-d", ref] : [ref, commit];
    await git(purpose, ["update-ref", "--no-deref", ...args, ...(old === undefined ? [] : [old ?? ""])], options);
  }
}
