/**
 * The user's answers to a change of an interface by a task that does not own it. The fold reads the first of
 * `FOREIGN_CHANGE_OPTIONS`, too.
 */
export const FOREIGN_CHANGE_OPTIONS = ["merge the change", "send it back"];
