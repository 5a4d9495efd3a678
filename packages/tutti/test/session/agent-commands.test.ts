import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../lab/wait-until.ts";
import { endCommands, findCommands, findOwnProcesses } from "../../src/session/keeper/agent-commands.ts";
import { sweepSession } from "../../src/session/keeper/session-processes.ts";

/** Has a child from its start. On input it starts a helper, a command, and a command that leaves it. */
const AGENT = `
import { spawn } from "node:child_process";
const start = (program, ...args) => spawn(program, args, { stdio: "ignore" });
const idle = (name) => start(process.execPath, "-e", "setInterval(() => {}, 1000); // " + name);
idle("first");
process.stdin.once("data", () => {
  idle("second");
  start("sh", "-c", "trap '' TERM; sleep 304; sleep 304; :");
  start("sh", "-c", "setsid sleep 305 & :");
});
console.log("ready");
`;

test("the commands of an agent are its shells and processes that left it, and they end without its other children", async () => {
  const key = `commands-${process.pid}`;
  onTestFinished(() => sweepSession(key, sleep));
  const agent = spawn(process.execPath, ["--input-type=module", "-e", AGENT], {
    env: { ...process.env, TUTTI_SESSION_KEY: key },
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(agent.stdout, "data");
  await waitUntil(() => findOwnProcesses(key).size === 2);
  const own = findOwnProcesses(key);
  expect(findCommands(key, own)).toEqual([]);
  agent.stdin.write("go\n");
  const commands = () => findCommands(key, own).map(({ pid }) => commandOf(pid));
  // The shell that started the second command has ended.
  await waitUntil(() => commands().length === 3 && commands().every((line) => /^(sh|sleep)/.test(line)));
  expect(commands().toSorted()).toEqual([expect.stringMatching(/^sh -c trap/), "sleep 304", "sleep 305"]);
  await endCommands(findCommands(key, own), sleep, 100);
  await waitUntil(() => !commands().some((line) => line.startsWith("sh ")));
  // The agent, its child from the start, and its helper.
  const left = [...findOwnProcesses(key).keys()].filter((pid) => !commandOf(pid).startsWith("sleep"));
  expect(left).toHaveLength(3);
  expect(left).toEqual(expect.arrayContaining([...own.keys()]));
});

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
};
