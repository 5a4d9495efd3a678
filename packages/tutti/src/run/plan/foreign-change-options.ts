import { sentence } from "../../sentence.ts";

/**
 * The user's answers to a change of an interface by a task that does not own it. The fold reads the first of
 * `FOREIGN_CHANGE_OPTIONS`, too.
 */
export const FOREIGN_CHANGE_OPTIONS = [sentence("merge the change"), sentence("send it back")];
