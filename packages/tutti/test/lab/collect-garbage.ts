import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects all garbage now, so that `process.memoryUsage` shows the memory that is still referenced. */
export function collectGarbage(): void {
  collect();
  // V8 frees array buffers on another thread after a collection, and waits for it only before the next one.
  collect();
}
