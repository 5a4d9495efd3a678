/** One change to the source that breaks the rows, so that a test that cites one of them must fail. */
export interface Mutant {
  /** Rows of the requirements, such as `D4-503`. A test that cites the row must fail under the change. */
  readonly rows: readonly string[];
  /** Path below `packages/`, such as `tutti/src/run/rules/retry.ts`. */
  readonly file: string;
  /** Text that occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
}

/** Applies the change to the text of its file. Throws unless `find` occurs exactly once. */
export function mutate(text: string, { file, find, replace }: Mutant): string {
  const occurrences = text.split(find).length - 1;
  if (occurrences !== 1)
    throw new Error(`${JSON.stringify(find)} occurs ${occurrences} times in ${file}. Choose text that occurs once.`);
  if (find === replace)
    throw new Error(`The replacement of ${JSON.stringify(find)} in ${file} is the same text. Change "replace".`);
  return text.replace(find, () => replace);
}
