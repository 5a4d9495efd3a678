// A network between this process and a network namespace, which can be cut: then packets are dropped without an error.
import { spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export interface CutNetwork {
  /** Starts the rest of a command line in the namespace. */
  via: string[];
  /** Forwards a port of this process's end to a Unix socket. Returns host and port. */
  forward(socket: string): Promise<string>;
  cut(): void;
  mend(): void;
  /** The programs in the namespace must have ended. */
  remove(): void;
}

/** Returns the reason if this machine does not allow network namespaces. */
export function openNetwork(): CutNetwork | string {
  const name = `tutti-${randomBytes(4).toString("hex")}`;
  const [outer, inner] = [`o${name.slice(6)}`, `i${name.slice(6)}`];
  // Of a range for tests of networks (RFC 2544), so that it is no address in use.
  const prefix = `198.18.${randomInt(256)}.${randomInt(64) * 4}`.split(".");
  const at = (n: number): string => [...prefix.slice(0, 3), Number(prefix[3]) + n].join(".");
  const ip = (...args: string[]): string | null => {
    const { status, stderr, error } = spawnSync("ip", args, { encoding: "utf8" });
    return status === 0 ? null : `ip ${args.join(" ")}: ${error?.message ?? stderr.trim()}`;
  };
  const remove = () => {
    ip("link", "delete", outer);
    ip("netns", "delete", name);
  };
  const steps = [
    ["netns", "add", name],
    ["link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name],
    ["address", "add", `${at(1)}/30`, "dev", outer],
    ["link", "set", outer, "up"],
    ["-n", name, "address", "add", `${at(2)}/30`, "dev", inner],
    ["-n", name, "link", "set", inner, "up"],
    ["-n", name, "link", "set", "lo", "up"],
    ["netns", "exec", name, "true"],
  ];
  for (const step of steps) {
    const problem = ip(...step);
    if (problem === null) continue;
    remove();
    return `This machine does not allow network namespaces: ${problem}`;
  }
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  return {
    via: ["ip", "netns", "exec", name],
    async forward(path) {
      const server = createServer((client) => {
        const upstream = connect(path);
        for (const each of [client, upstream]) {
          sockets.add(each);
          each.on("error", () => {}).on("close", () => sockets.delete(each));
        }
        client.pipe(upstream).pipe(client);
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, at(1), resolve));
      return `${at(1)}:${(server.address() as AddressInfo).port}`;
    },
    cut: () => void ip("link", "set", outer, "down"),
    mend: () => void ip("link", "set", outer, "up"),
    remove() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
      remove();
    },
  };
}
