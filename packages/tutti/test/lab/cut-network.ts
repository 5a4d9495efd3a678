// A network between two network namespaces, which can be cut: then packets are dropped without an error. The network of this
// machine stays as it is, because browsers of other tests notice its changes.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";

export interface CutNetwork {
  /** Starts the rest of a command line at one end of the network. */
  via: string[];
  /** Forwards a port of the other end to a Unix socket. Returns address and port. */
  forward(socket: string): Promise<string>;
  cut(): void;
  mend(): void;
  /** The programs at the first end must have ended. */
  remove(): void;
}

const NEAR = "198.18.0.1";
const FAR = "198.18.0.2";

const RELAY = `
  const { connect, createServer } = require("node:net");
  const server = createServer((client) => {
    const upstream = connect(process.argv[1]);
    for (const each of [client, upstream]) each.on("error", () => {});
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, ${JSON.stringify(NEAR)}, () => console.log(server.address().port));
`;

/** Returns the reason if this machine does not allow network namespaces. */
export function openNetwork(): CutNetwork | string {
  const id = randomBytes(4).toString("hex");
  const [near, far] = [`tutti-near-${id}`, `tutti-far-${id}`];
  const [nearEnd, farEnd] = [`n${id}`, `f${id}`];
  const ip = (...args: string[]): string | null => {
    const { status, stderr, error } = spawnSync("ip", args, { encoding: "utf8" });
    return status === 0 ? null : `ip ${args.join(" ")}: ${error?.message ?? stderr.trim()}`;
  };
  const relays: ChildProcess[] = [];
  const remove = () => {
    for (const relay of relays) relay.kill("SIGKILL");
    for (const name of [near, far]) ip("netns", "delete", name);
  };
  const steps = [
    ["netns", "add", near],
    ["netns", "add", far],
    ["-n", near, "link", "add", nearEnd, "type", "veth", "peer", "name", farEnd, "netns", far],
    ["-n", near, "address", "add", `${NEAR}/30`, "dev", nearEnd],
    ["-n", near, "link", "set", nearEnd, "up"],
    ["-n", far, "address", "add", `${FAR}/30`, "dev", farEnd],
    ["-n", far, "link", "set", farEnd, "up"],
    ["-n", far, "link", "set", "lo", "up"],
    ["netns", "exec", far, "true"],
  ];
  for (const step of steps) {
    const problem = ip(...step);
    if (problem === null) continue;
    remove();
    return `This machine does not allow network namespaces: ${problem}`;
  }
  return {
    via: ["ip", "netns", "exec", far],
    async forward(socket) {
      const relay = spawn("ip", ["netns", "exec", near, process.execPath, "-e", RELAY, socket], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      relays.push(relay);
      const port = await new Promise<string>((resolve, reject) => {
        relay.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
        relay.once("exit", () => reject(new Error("The relay ended.")));
      });
      return `${NEAR}:${port}`;
    },
    cut: () => void ip("-n", near, "link", "set", nearEnd, "down"),
    mend: () => void ip("-n", near, "link", "set", nearEnd, "up"),
    remove,
  };
}
