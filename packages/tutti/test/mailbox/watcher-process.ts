// Started by the tests as a separate process, to be killed: prints the task of each delivered message.
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
