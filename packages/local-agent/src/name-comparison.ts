// A program that compares the names of the tasks of a run: it reads `TaskWork[]` as JSON from stdin and writes `NameUse[]`
// as JSON to stdout. Like the agent, it needs no model and no network, and shares no code with Tutti.
import { text } from "node:stream/consumers";
import { compareNames, type TaskWork } from "./compare/compare-names.ts";

const works = JSON.parse(await text(process.stdin)) as TaskWork[];
process.stdout.write(JSON.stringify(await compareNames(works)));
