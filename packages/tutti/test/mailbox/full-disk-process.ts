// Started by a test on a disk of 256 KB: sends until the disk is full, then reports the remaining state.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Mailbox } from "../../src/mailbox/mailbox.ts";
import { realWorld } from "../../src/world.ts";
import { assignment } from "./mailbox-lab.ts";

const project = process.argv[2]!;
const mailbox = new Mailbox({ project, world: realWorld });
const folder = join(project, ".claude-orchestrator/tasks/messages");
const file = join(folder, "to-developer.json");

const codeOf = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return "sent";
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

// Space to free at the end, when the box is as large as it can be.
const room = join(project, "room");
writeFileSync(room, "x".repeat(64 * 1024));

let code: unknown = "sent";
let before = "";
for (let number = 0; code === "sent"; number++) {
  code = await codeOf(async () => mailbox.send("developer", assignment(`t${number}`, { title: "x".repeat(8000) })));
  if (code === "sent") before = readFileSync(file, "utf8");
}
const kept = readFileSync(file, "utf8") === before;
// Fills the remaining bytes, so that not even a line of an index fits.
const filler = join(project, "filler");
await codeOf(async () => writeFileSync(filler, "x".repeat(256 * 1024)));
const markCode = await codeOf(async () => mailbox.read("developer"));
const clearCode = await codeOf(async () => mailbox.clear("developer"));
const files = readdirSync(folder);
rmSync(filler);
rmSync(room);
JSON.parse(readFileSync(file, "utf8"));
const afterwards = await codeOf(async () => mailbox.send("developer", assignment("small")));
process.stdout.write(JSON.stringify({ code, kept, files, markCode, clearCode, afterwards }));
