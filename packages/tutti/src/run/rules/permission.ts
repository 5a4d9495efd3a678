// Agents list the options of a permission in any order, so only the text counts: `yesAmong` takes one that does not
// look like a refusal.
const NO = /^(no|not|never|reject\w*|refuse\w*|den(y|ied)|decline\w*|disallow\w*|don['’]?t|cancel\w*|abort\w*|stop)\b/i;

const isNo = (option: string): boolean => NO.test(option.trim());

export const yesAmong = (options: readonly string[] = []): string => options.find((each) => !isNo(each)) ?? "allow";

/** Fails closed: returns `refuse` if the agent offers no refusal. */
export const noAmong = (options: readonly string[] = []): string => options.find(isNo) ?? "refuse";
