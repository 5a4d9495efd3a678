/**
 * When this many sessions of a task in a row are lost, the task fails; when they are of the main session, the run waits
 * for the user. Losses that the engine causes do not count.
 */
export const MAX_LOSSES = 3;
/** Of the main session in a row, lost for any reason. A timeout is expensive, so the run waits earlier. */
export const MAX_TIMEOUTS = 2;
