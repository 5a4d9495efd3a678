// How often a session may vanish.

/** Sessions of one task, or main sessions, that may vanish for no reason of ours before we stop trying. */
export const MAX_LOSSES = 3;
