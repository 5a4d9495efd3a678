// Started by the tests as a separate process, possibly to be killed: sends messages and prints the acknowledged ones.
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { realWorld } from "../../src/world.ts";

const [project = "", name = "", count = "", burst = ""] = process.argv.slice(2);
const mailbox = new Mailbox({ project, world: realWorld });

const send = async (number: number) => {
  const taskId = `${name}-${number}`;
  await mailbox.send("developer", {
    type: "task_assignment",
    taskId,
    platform: "custom",
    title: "t",
    instructions: "i",
    filesToCreate: [],
    architecture: "a",
  });
  process.stdout.write(`${taskId}\n`);
};

for (let first = 0; first < Number(count); first += Number(burst)) {
  const rest = Math.min(Number(burst), Number(count) - first);
  await Promise.all(Array.from({ length: rest }, (_, index) => send(first + index)));
}
