// Restate: a workflow that keeps as many service calls open as the cap allows. The server calls this process.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { loadPackage } from "./load-package.ts";
import { Frontier } from "../frontier.ts";
import { CAP } from "../layered-graph.ts";
import type { Participant } from "../participant.ts";

export const restate: Participant = async ({ folder, packages, url, isResumed }, recorder) => {
  const { service, workflow, RestatePromise, createEndpointHandler } = loadPackage(packages, "@restatedev/restate-sdk");
  const clients = loadPackage(packages, "@restatedev/restate-sdk-clients");
  const name = basename(folder).replaceAll(/\W/g, "_");
  const task = service({
    name: `task_${name}`,
    handlers: {
      run: async (_: unknown, id: string) => {
        recorder.started(id);
        recorder.work(id);
      },
    },
  });
  const run = async (context: ReturnType<typeof loadPackage>): Promise<void> => {
    const frontier = new Frontier();
    const waiting = frontier.ready();
    const open = new Map<string, unknown>();
    while (waiting.length + open.size > 0) {
      for (const id of waiting.splice(0, CAP - open.size)) {
        open.set(
          id,
          context
            .serviceClient(task)
            .run(id)
            .map(() => id),
        );
      }
      const ended: string = await RestatePromise.race([...open.values()]);
      recorder.ended(ended);
      open.delete(ended);
      waiting.push(...frontier.ended(ended));
    }
  };
  const graph = workflow({ name: `graph_${name}`, handlers: { run } });
  const [ingress, admin] = url.split(" ");
  // After a resume the server calls the same port again.
  const portFile = join(folder, "port");
  const known = existsSync(portFile) ? Number(readFileSync(portFile, "utf8")) : 0;
  const server = createServer(createEndpointHandler({ services: [task, graph] }));
  await new Promise<void>((resolve) => server.listen(known, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(portFile, String(port));
  if (!isResumed) await register(admin!, `http://127.0.0.1:${port}`);
  const client = clients.connect({ url: ingress }).workflowClient(graph, "one");
  recorder.begin();
  if (!isResumed) await client.workflowSubmit();
  await client.workflowAttach();
};

async function register(admin: string, uri: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${admin}/deployments`, { method: "POST", headers, body: JSON.stringify({ uri }) });
  if (!response.ok) throw new Error(`Restate rejected the services: ${await response.text()}`);
}
