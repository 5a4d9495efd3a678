// Which addresses are out on the internet. Everything else is somebody's own: this machine, its networks, and what a
// cloud tells its machines about themselves. What is not known to be public is not.
import { BlockList, isIP } from "node:net";

/** IPv4 that is not routed on the internet, by IANA's registry of special-purpose addresses; multicast is the last but one. */
const INTERNAL_4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/**
 * Of IPv6 only 2000::/3 is on the internet, so loopback, unique-local, link-local, multicast, IPv4-mapped and NAT64
 * addresses are none of it. Within it these are not either, or have an IPv4 address inside that nobody has looked at.
 */
const PUBLIC_6 = ["2000::", 3] as const;
const INTERNAL_6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const internal = new BlockList();
for (const [net, prefix] of INTERNAL_4) internal.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of INTERNAL_6) internal.addSubnet(net, prefix, "ipv6");
const routed = new BlockList();
routed.addSubnet(...PUBLIC_6, "ipv6");

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !internal.check(address, "ipv4");
    case 6:
      // One with a zone belongs to a link of this machine.
      return !address.includes("%") && routed.check(address, "ipv6") && !internal.check(address, "ipv6");
    default:
      return false;
  }
}
