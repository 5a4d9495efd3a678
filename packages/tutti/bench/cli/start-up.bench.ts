// Measures start-up: the CPU time of a command, and of a server until it listens, as multiples of an empty Node
// process. Node's compile cache is kept between starts, as in normal use; the first start of each is not counted.
// Run: npm run bench -- start-up
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROUNDS = 15;
const folder = mkdtempSync(join(tmpdir(), "tutti-bench-start-"));
const tutti = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
/**
 * At exit, writes the CPU time in microseconds and the memory in bytes to file descriptor 3. CommonJS, because an `import`
 * of "node:fs" would load Node's streams and hide what a command pays for them.
 */
const hook = join(folder, "hook.cjs");
writeFileSync(
  hook,
  `const { writeSync } = require("node:fs");
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ cpu: user + system, memory: process.memoryUsage.rss() }));
});`,
);
/** Ends a server when it prints its address. A signal would arrive later, on a busy machine much later. */
const endServer = join(folder, "end-server.cjs");
writeFileSync(
  endServer,
  `const { stdout } = process;
const write = stdout.write.bind(stdout);
stdout.write = (text, ...rest) => (String(text).includes("listening on") ? process.exit(0) : write(text, ...rest));`,
);

interface Cost {
  /** Milliseconds. */
  cpu: number;
  /** Megabytes. */
  memory: number;
}

async function cost(args: string[]): Promise<Cost> {
  const child = spawn(process.execPath, ["--require", hook, ...args], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled"), NODE_NO_WARNINGS: "1" },
  });
  let report = "";
  child.stdio[3]!.on("data", (chunk: Buffer) => (report += chunk.toString()));
  child.stdout!.resume();
  const [code] = (await once(child, "close")) as [number | null];
  if (report === "") throw new Error(`${args.join(" ")} ended with ${code} without a report`);
  const { cpu, memory } = JSON.parse(report) as { cpu: number; memory: number };
  return { cpu: cpu / 1000, memory: memory / 2 ** 20 };
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const data = ["--data-dir", join(folder, "data")];
const candidates: [string, string[]][] = [
  ["a Node that does nothing", ["-e", "0"]],
  ["a Node with an http server", ["-e", "require('http').createServer().listen(0, '127.0.0.1', () => process.exit())"]],
  ["tutti --version", [tutti, "--version"]],
  ["tutti list", [tutti, ...data, "list"]],
  ["tutti serve, until it listens", ["--require", endServer, tutti, ...data, "serve", "--port", "0"]],
];

try {
  const results = candidates.map(([name]) => ({ name, costs: [] as Cost[] }));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, [, args]] of candidates.entries()) {
      const found = await cost(args);
      if (round > 0) results[i]!.costs.push(found);
    }
  }
  const bare = median(results[0]!.costs.map(({ cpu }) => cpu));
  console.log(
    `load ${loadavg()[0]!.toFixed(1)}; medians of ${ROUNDS} rounds; in brackets as a multiple of an empty Node process`,
  );
  for (const { name, costs } of results) {
    const cpu = median(costs.map((each) => each.cpu));
    const memory = median(costs.map((each) => each.memory));
    console.log(
      `  ${name.padEnd(32)} ${cpu.toFixed(0).padStart(5)} CPU ms (${(cpu / bare).toFixed(2)}), ${memory.toFixed(0)} MB`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
