/** One change to the source that breaks what the rows say, so that a test that cites one of them must fail. */
export interface Mutant {
  /** Rows of the requirements, such as `D4-503`. Each must be cited by a test that fails under the change. */
  readonly rows: readonly string[];
  /** Path below `packages/`, such as `tutti/src/run/retry.ts`. */
  readonly file: string;
  /** Text that occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
}

/** Applies the change to the text of its file. Throws where `find` no longer occurs exactly once. */
export function mutate(text: string, { file, find, replace }: Mutant): string {
  const occurrences = text.split(find).length - 1;
  if (occurrences !== 1)
    throw new Error(`${JSON.stringify(find)} occurs ${occurrences} times in ${file}. Choose text that occurs once.`);
  if (find === replace) throw new Error(`The change of ${JSON.stringify(find)} in ${file} changes nothing.`);
  return text.replace(find, () => replace);
}
