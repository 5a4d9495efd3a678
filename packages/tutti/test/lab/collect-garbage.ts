import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage now, so that `process.memoryUsage` shows the memory that is still referenced. */
export const collectGarbage = runInNewContext("gc") as () => void;
