// A program that compares the names of the tasks of a run: it reads the works and package files as JSON from stdin and
// writes `NameUse[]` as JSON to stdout. Like the agent, it needs no model and no network, and shares no code with Tutti.
import { text } from "node:stream/consumers";
import { compareNames, type PackageFile, type TaskWork } from "./compare/compare-names.ts";

const { works, packages } = JSON.parse(await text(process.stdin)) as { works: TaskWork[]; packages: PackageFile[] };
process.stdout.write(JSON.stringify(await compareNames(works, packages)));
