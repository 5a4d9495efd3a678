// Plants bugs in the rules without changing a file: a product module that imports a patched module gets a stand-in with
// the same exports. Must be loaded before the engine.
import { registerHooks } from "node:module";
import { PATCHED } from "./planted-patches.ts";

const SOURCE = new URL("../../src/", import.meta.url).href;
const RULES = new URL("planted-rules.ts", import.meta.url).href;
const STAND_IN = "planted:";

const namesOf = (url: string): readonly string[] | undefined =>
  url.startsWith(SOURCE) ? (PATCHED as Record<string, readonly string[]>)[url.slice(SOURCE.length)] : undefined;

function standIn(url: string): string {
  const patches = namesOf(url)!.map((name) => `export const ${name} = patched("${name}", real.${name});`);
  return [
    `import * as real from "${url}";`,
    `import { patched } from "${RULES}";`,
    `export * from "${url}";`,
    ...patches,
  ].join("\n");
}

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isPatched = context.parentURL?.startsWith(SOURCE) === true && namesOf(found.url) !== undefined;
    return isPatched ? { url: `${STAND_IN}${found.url}`, format: "module", shortCircuit: true } : found;
  },
  load(url, context, next) {
    if (!url.startsWith(STAND_IN)) return next(url, context);
    return { format: "module", source: standIn(url.slice(STAND_IN.length)), shortCircuit: true };
  },
});
