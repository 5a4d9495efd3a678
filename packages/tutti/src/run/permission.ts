// What a yes and a no to a permission are among the options that an agent offers. Agents put them in any order, so their
// place says nothing: an option counts as a yes only if it does not read like a no.
const NO = /^(no|not|never|reject\w*|refuse\w*|den(y|ied)|decline\w*|disallow\w*|don['’]?t|cancel\w*|abort\w*|stop)\b/i;

const isNo = (option: string): boolean => NO.test(option.trim());

export const yesAmong = (options: readonly string[] = []): string => options.find((each) => !isNo(each)) ?? "allow";

/** What nobody allows is not allowed, also where the agent offers no way to say so. */
export const noAmong = (options: readonly string[] = []): string => options.find(isNo) ?? "refuse";
