/** The task, or the run, fails when this many of its sessions in a row are lost. Losses that the engine causes do not count. */
export const MAX_LOSSES = 3;
