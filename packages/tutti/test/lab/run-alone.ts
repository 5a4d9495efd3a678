// A program: executes one run with its own engine, reads the transcript of the main session in pages, and prints its
// memory use. Arguments: data folder, repository, agent.
import { openLocalEngine } from "../../src/main/local-engine.ts";

const [dataDir = "", cwd = "", agent = ""] = process.argv.slice(2);
const megabytes = () => Math.round(process.resourceUsage().maxRSS / 1024);

const local = openLocalEngine({ dataDir });
const { engine } = local;
const { id } = await engine.create({ message: "talk", templateId: "documentation", cwd, agent });
await engine.order(id, "start");
const started = megabytes();
await engine.until(id, ({ status }) => status === "confirming" || status === "error");
await engine.order(id, "confirm");
const run = await engine.until(id, ({ released }) => released);
const ran = megabytes();

const counts: Record<string, number> = {};
let after = 0;
let longest = 0;
let omitted = 0;
for (;;) {
  const page = await engine.transcript(id, run.mainSessionId!, { after, limit: 1000, characters: 4_000_000 });
  if (page.length === 0) break;
  after = page.at(-1)!.n;
  for (const entry of page) {
    counts[entry.type] = (counts[entry.type] ?? 0) + 1;
    if (entry.type === "text") longest = Math.max(longest, entry.text.length);
    omitted += entry.omitted ?? 0;
  }
}
await local.close();
console.log(JSON.stringify({ status: run.status, started, ran, read: megabytes(), counts, longest, omitted }));
