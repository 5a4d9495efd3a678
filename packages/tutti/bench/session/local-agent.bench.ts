// Measures what the local agent costs per file: the CPU time of an analysis and the peak memory of its process, for a
// generated repository of 2,000 and of 20,000 files (target: below 5 ms and below 300 MB).
// Run: npm run bench -- session/local-agent
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localDriver } from "../../src/session/drivers/local.ts";

const SIZES = [2_000, 20_000];
const TICKS_PER_SECOND = 100;

function makeRepository(files: number): string {
  const root = mkdtempSync(join(tmpdir(), "tutti-bench-local-"));
  writeFileSync(join(root, "package.json"), '{"name":"large"}');
  for (let index = 0; index < files; index += 1) {
    const folder = join(root, `src/area${index % 50}/part${index % 7}`);
    const next = (index + 50) % files;
    mkdirSync(folder, { recursive: true });
    const functions = Array.from(
      { length: 6 },
      (_, step) =>
        `/** Does step ${step}. */\nexport function f${index}x${step}(a: number): number {\n  return [a].map((b) => b * ${step})[0]!;\n}\n`,
    );
    const used = `f${next}x1`;
    const text = `import { ${used} } from "../part${next % 7}/f${next}.ts";\n${functions.join("\n")}\nexport const v${index} = ${used}(1);\n`;
    writeFileSync(join(folder, `f${index}.ts`), text);
  }
  return root;
}

/** Asks for one analysis, and reads the costs of the process before it ends. */
async function measure(files: number): Promise<{ cpuSeconds: number; peakMegabytes: number }> {
  const root = makeRepository(files);
  try {
    const [program, ...args] = localDriver.launch().command;
    const child = spawn(program!, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdin.write(`${JSON.stringify({ type: "user", phase: "analysis", text: "Document it." })}\n`);
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('"turn_end"')) resolve();
      });
    });
    const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1];
    child.stdin.end();
    await new Promise((resolve) => child.on("close", resolve));
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      peakMegabytes: Number(peak) / 1024,
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

for (const files of SIZES) {
  const { cpuSeconds, peakMegabytes } = await measure(files);
  const perFile = (cpuSeconds * 1_000) / files;
  console.log(
    `${files} files: ${cpuSeconds.toFixed(1)} s of CPU time, ${perFile.toFixed(2)} ms per file; peak memory ${peakMegabytes.toFixed(0)} MB`,
  );
}
