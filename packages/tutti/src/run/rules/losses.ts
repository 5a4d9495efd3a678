/**
 * After `MAX_LOSSES` sessions in a row a task fails, or the run waits for the user if they were main sessions. Losses
 * that the engine causes do not count.
 */
export const MAX_LOSSES = 3;
/**
 * `MAX_TIMEOUTS` counts lost main sessions in a row, whatever the reason. A timeout is expensive, so the run waits
 * earlier.
 */
export const MAX_TIMEOUTS = 2;
/** `MAX_TRIES` is the number of turns that may try for one usable answer (`owed.try`). */
export const MAX_TRIES = 3;
