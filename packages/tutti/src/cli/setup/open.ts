import { EngineAddress } from "../access/engine-address.ts";
import { findAddress } from "../access/find-address.ts";
import { findRunId } from "../access/find-run.ts";
import { readRuns } from "../access/open-runs.ts";
import { dashboardAt } from "../access/server-runs.ts";
import { openBrowser } from "../terminal/open-browser.ts";
import type { Output } from "../terminal/output.ts";
import { serveFolder } from "./serve-folder.ts";
import { DEFAULT_PORT } from "../../main/settings.ts";
import { readVersion } from "../../own-files.ts";
import type { HostedServer } from "../../schema/api/hosted-server.ts";

/**
 * Opens the dashboard of a running server, or else of the command that works on the data folder (`EngineAddress`).
 * Without either this command is the server, until a signal.
 */
export async function open(output: Output, idPrefix?: string): Promise<number> {
  const id = idPrefix === undefined ? null : await findRunId(await readRuns(output), idPrefix);
  const show = ({ url, openUrl }: HostedServer) => {
    const runUrl = id === null ? openUrl : `${openUrl}#/runs/${id}`;
    output.value({ url, openUrl: runUrl });
    output.result(`dashboard: ${runUrl}`);
    openBrowser(runUrl);
  };
  const server = await findAddress(output);
  if (server) {
    show({ url: server.baseUrl, openUrl: dashboardAt(server) });
    return 0;
  }
  const engine = new EngineAddress(output.dataDir);
  if (await engine.answers()) {
    show(await engine.openDashboard());
    output.line('It closes when the command that works on this data folder ends. Keep one open with "tutti serve".');
    return 0;
  }
  output.line("The dashboard stays up until you press Ctrl-C.");
  const address = { host: "127.0.0.1", port: DEFAULT_PORT, orFreePort: true };
  return serveFolder({ dataDir: output.dataDir, version: readVersion(), ...address }, false, show);
}
