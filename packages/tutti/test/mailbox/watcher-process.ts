// Run by the tests as a process of its own, to be killed: prints the task of each message that it is handed.
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { realWorld } from "../../src/world.ts";

const [project = "", count = ""] = process.argv.slice(2);
const stop = new AbortController();
let taken = 0;
for await (const { message } of new Mailbox({ project, world: realWorld }).watch("developer", {
  signal: stop.signal,
})) {
  process.stdout.write(`${message?.taskId}\n`);
  if (++taken === Number(count)) stop.abort();
}
