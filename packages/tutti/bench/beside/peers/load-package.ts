// The packages of the peers are not part of this repository: they are installed elsewhere, and found from there. So
// nothing is known of their types here.
import { createRequire } from "node:module";
import { join } from "node:path";

export function loadPackage(packages: string, name: string): ReturnType<NodeJS.Require> {
  return createRequire(join(packages, "package.json"))(name);
}
