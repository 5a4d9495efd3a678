// Prepares what many tests share, once, before they run in parallel: a build of Tutti, and programs of the system.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns the environment for the tests. They start thousands of processes of Tutti, and each starts in half the time
 * from a build.
 *
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function provide() {
  const [built, programs] = await Promise.all([
    runScript("scripts/build-program.mjs"),
    runScript("packages/tutti/test/lab/provide-programs.ts"),
  ]);
  console.log(`build: ${built.output}`);
  console.log(programs.output);
  return built.isSound ? { TUTTI_BUILD: built.output } : {};
}

/**
 * @param {string} file
 * @returns {Promise<{ isSound: boolean, output: string }>}
 */
function runScript(file) {
  return new Promise((resolve) => {
    execFile(process.execPath, [file], { cwd: root }, (error, stdout, stderr) =>
      resolve({ isSound: error === null, output: `${stdout}${stderr}`.trim() }),
    );
  });
}
