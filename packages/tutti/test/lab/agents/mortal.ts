// Runs an agent program and kills it in each phase of a run after a number of bytes: the first process that receives the
// prompt of a phase writes as many bytes as the first line of the file LAB_FATES/PHASE says, then both processes end by
// SIGKILL. Usage: mortal.ts PROGRAM ARGUMENT...
import { spawn } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { requestIn } from "./orders.ts";

const [program, ...args] = process.argv.slice(2);
const agent = spawn(program!, args, { stdio: ["pipe", "pipe", "inherit"] });
let bytesLeft = Number.POSITIVE_INFINITY;

/** Each phase and task has one fate, which a rename takes. */
function takeFate(prompt: string): void {
  const asked = requestIn(prompt);
  if (asked === null) return;
  const file = join(process.env["LAB_FATES"]!, [asked.phase, asked.task ?? "main"].join("-"));
  try {
    renameSync(file, `${file}.taken`);
    bytesLeft = Number(readFileSync(`${file}.taken`, "utf8"));
  } catch {
    // Another process died in this phase.
  }
}

function die(): void {
  agent.kill("SIGKILL");
  process.kill(process.pid, "SIGKILL");
}

process.stdin.on("data", (bytes: Buffer) => {
  takeFate(bytes.toString());
  if (bytesLeft === 0) die();
  agent.stdin.write(bytes);
});
process.stdin.on("end", () => agent.stdin.end());
agent.stdin.on("error", () => {});
agent.stdout.on("data", (bytes: Buffer) => {
  const written = bytes.subarray(0, bytesLeft);
  bytesLeft -= written.length;
  if (bytesLeft > 0) process.stdout.write(written);
  else process.stdout.write(written, die);
});
agent.on("exit", (code) => process.exit(code ?? 1));
