// Loads a package of the peers from its own folder. These packages are not part of this repository, so their types are
// unknown.
import { createRequire } from "node:module";
import { join } from "node:path";

export function loadPackage(packages: string, name: string): ReturnType<NodeJS.Require> {
  return createRequire(join(packages, "package.json"))(name);
}
