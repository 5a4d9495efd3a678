// Documents `SAMPLE_PROJECT` with the built-in agent. Needs neither a key nor a network.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watch } from "../run/watch.ts";
import { localRuns } from "../access/local-runs.ts";
import type { Output } from "../terminal/output.ts";
import { SAMPLE_PROJECT } from "../../main/sample-project.ts";
import { announceServer } from "../access/server-file.ts";
import { waitForStopSignal } from "../terminal/interrupt.ts";
import { isStdinTerminal } from "../terminal/stdin.ts";
import { readVersion } from "../../own-files.ts";
import { startLocalServer } from "../../main/local-server.ts";
import { exportCommit, makeRepository } from "../../workspace/sample.ts";

export async function demo(output: Output): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-demo-"));
  const repository = join(folder, "corner-bookshop");
  await makeRepository(repository, SAMPLE_PROJECT);
  const dataDir = join(folder, "data");
  const server = await startLocalServer({ dataDir, port: 0, host: "127.0.0.1", version: readVersion() });
  let removeServerFile = () => {};
  const stopSignal = waitForStopSignal(server.halted);
  const interrupt = new AbortController();
  stopSignal.then(
    () => interrupt.abort(),
    () => {},
  );
  try {
    removeServerFile = announceServer(dataDir, { url: server.url, ownToken: false });
    output.value({ dashboard: server.openUrl, project: repository });
    output.result(`dashboard: ${server.openUrl}`);
    output.line(`sample project: ${repository}`);
    const { engine } = server;
    const message = "Document this repository";
    const { id } = await engine.create({ templateId: "documentation", cwd: repository, message, agent: "local" });
    const openDashboard = async () => server;
    const runs = localRuns({ ...server, openDashboard, hasServer: () => false, isFollowed: () => false });
    const { signal } = interrupt;
    const code = await watch({ runs, output, id, signal, yes: true, allowDegraded: false, start: true });
    if (code !== 0) return code;
    const result = join(folder, "result");
    await exportCommit(repository, engine.get(id)!.head!, result);
    output.value({ result: join(result, "docs", "README.md") });
    output.result(`result: ${join(result, "docs", "README.md")}`);
    output.line(`The files of this demo stay in ${folder}. Delete that folder when you no longer need it.`);
    output.line('Now try a project of yours: tutti run "Document this repository" --cwd FOLDER --agent local');
    if (!isStdinTerminal() || !process.stdout.isTTY) return 0;
    output.line("The dashboard stays up until you press Ctrl-C.");
    await stopSignal;
    return 0;
  } finally {
    removeServerFile();
    await server.close({ leaveRunning: false });
  }
}
