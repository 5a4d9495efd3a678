// The simulation's command line:
//   npm run sim -- --seeds 500 --kill-points 300 --double     run many simulations
//   npm run sim -- --seed 17 --kill 230,251                   reproduce one of them
//   npm run sim -- --planted                                  check that planted bugs are found, and how fast
import { parseArgs } from "node:util";
import { isBug } from "./planted.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "0" },
    from: { type: "string", default: "1" },
    "kill-points": { type: "string", default: "0" },
    double: { type: "boolean", default: false },
    seed: { type: "string" },
    kill: { type: "string" },
    "no-crashes": { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
    bug: { type: "string" },
    tail: { type: "string", default: "40" },
  },
});

const bug = values.bug === undefined || isBug(values.bug) ? values.bug : null;
if (bug === null)
  throw new Error(`The planted bug "${values.bug}" does not exist. See test/sim/planted.ts for their names.`);
// The loader must run before the engine is loaded.
if (values.planted || bug) await import("./planted-loader.ts");

if (values.planted) {
  const { findPlanted } = await import("./find-planted.ts");
  process.exitCode = (await findPlanted(bug ? [bug] : null)) ? 0 : 1;
} else if (values.seed !== undefined) {
  const { repeat } = await import("./report.ts");
  const kills = values.kill?.split(",").map(Number);
  const options = { seed: Number(values.seed), noCrashes: values["no-crashes"], bug: bug ?? null };
  process.exitCode = (await repeat({ ...options, ...(kills ? { kills } : {}) }, Number(values.tail))) ? 0 : 1;
} else {
  const { campaign } = await import("./report.ts");
  const killPoints = Number(values["kill-points"]);
  const seeds = values.seeds === "0" && killPoints === 0 ? 200 : Number(values.seeds);
  process.exitCode = (await campaign({ from: Number(values.from), seeds, killPoints, double: values.double })) ? 0 : 1;
}
