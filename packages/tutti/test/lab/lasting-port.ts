// Finds a port that a server can have again after a restart. While it is closed, an outgoing connection of any process
// could get one of the ports that the system hands out.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";

const HANDED_OUT = "/proc/sys/net/ipv4/ip_local_port_range";
/** Services of the machine are rather below it. */
const LOWEST = 10_000;
const HIGHEST = 65_535;

export async function lastingPort(): Promise<number> {
  const [from = 0, to = 0] = existsSync(HANDED_OUT)
    ? readFileSync(HANDED_OUT, "utf8").trim().split(/\s+/).map(Number)
    : [32_768, HIGHEST];
  const below = Math.max(0, from - LOWEST);
  const count = below + Math.max(0, HIGHEST - to);
  // A system that hands out all ports leaves no choice.
  if (count === 0) return 0;
  for (;;) {
    const index = randomInt(count);
    const port = index < below ? LOWEST + index : to + 1 + index - below;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
