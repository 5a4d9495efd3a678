// Bundles the programs of `packages/tutti/src`: a process that loads few files starts in half the time. Parts that a
// command loads on demand become chunks of their own.
//
//   node scripts/build-program.mjs              into the folder of `currentBuild`, unless it exists; prints the folder
//   node scripts/build-program.mjs --into DIR   into DIR
//   node scripts/build-program.mjs --prepare    like the first, for `npm ci`: a clone works without a build, too
import { cpSync, existsSync, mkdtempSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildsFolder, currentBuild } from "./build-key.mjs";
import { bundleProgram } from "./bundle-program.mjs";

const source = fileURLToPath(new URL("../packages/tutti/src", import.meta.url));

/** Programs that are started by their file, and the public names. */
const ENTRIES = [
  "index",
  "cli/main",
  "session/keeper/keeper",
  "session/drivers/cdp/agent",
  "session/drivers/script/player",
];

const into = process.argv.indexOf("--into");
if (into > 0) await build(process.argv[into + 1] ?? "");
else if (process.argv.includes("--prepare"))
  await buildOnce().catch((error) => console.warn(`Tutti was not built and runs from its sources: ${error}`));
else console.log(await buildOnce());

async function buildOnce() {
  const target = currentBuild();
  if (existsSync(target)) return target;
  mkdirSync(buildsFolder, { recursive: true });
  const temporary = mkdtempSync(join(buildsFolder, "new-"));
  await build(temporary);
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    // Another process may have built the same sources.
    if (!existsSync(target)) throw error;
  }
  for (const name of readdirSync(buildsFolder))
    if (join(buildsFolder, name) !== target) rmSync(join(buildsFolder, name), { recursive: true, force: true });
  return target;
}

/** @param {string} target */
async function build(target) {
  const output = await bundleProgram(
    Object.fromEntries(ENTRIES.map((name) => [name, join(source, `${name}.ts`)])),
    target,
  );
  const names = output.flatMap((file) => (file.type === "chunk" && file.name === "index" ? file.exports : []));
  const reexports = `import index from "./index.cjs";\nexport const { ${names.join(", ")} } = index;\n`;
  writeFileSync(join(target, "index.js"), reexports);
  cpSync(join(source, "template/built-in"), join(target, "template/built-in"), { recursive: true });
  // Loaded here, because a Node that cannot strip types must still be able to run `--prepare`.
  const { checkTemplates } = await import("./check-templates.mjs");
  checkTemplates(target);
}
