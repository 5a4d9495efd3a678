// `tutti demo`: the main job on a sample project, with no key, no network and nothing installed beforehand.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { follow } from "./follow.ts";
import type { Output } from "./output.ts";
import { SAMPLE_PROJECT } from "./sample-project.ts";
import { untilTold } from "./serve.ts";
import { readVersion } from "./version.ts";
import { exportCommit, makeRepository, startLocalServer } from "../main.ts";

export async function demo(output: Output): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-demo-"));
  const repository = join(folder, "corner-bookshop");
  await makeRepository(repository, SAMPLE_PROJECT);
  const server = await startLocalServer({
    dataDir: join(folder, "data"),
    port: 0,
    host: "127.0.0.1",
    version: readVersion(),
  });
  const told = untilTold(server.halted);
  const interrupt = new AbortController();
  told.then(
    () => interrupt.abort(),
    () => {},
  );
  try {
    output.value({ dashboard: server.openUrl, project: repository });
    output.result(`dashboard: ${server.openUrl}`);
    output.line(`sample project: ${repository}`);
    const { engine } = server;
    const message = "Document this repository";
    const { id } = await engine.create({ templateId: "documentation", cwd: repository, message, agent: "local" });
    const code = await follow({
      engine,
      output,
      id,
      signal: interrupt.signal,
      yes: true,
      allowDegraded: false,
      start: true,
    });
    if (code !== 0) return code;
    const result = join(folder, "result");
    await exportCommit(repository, engine.get(id)!.head!, result);
    output.value({ result: join(result, "docs", "README.md") });
    output.result(`result: ${join(result, "docs", "README.md")}`);
    if (!process.stdin.isTTY || !process.stdout.isTTY) return 0;
    output.line("The dashboard stays up until you press Ctrl-C.");
    await told;
    return 0;
  } finally {
    await server.close({ leaveRunning: false });
  }
}
