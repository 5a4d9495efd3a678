// `isPublicAddress` decides whether an address is public. Anything not known to be public counts as internal: this
// machine, its networks, and the metadata service of a cloud.
import { BlockList, isIP } from "node:net";

/** IPv4 ranges that are not routed on the internet: IANA's special-purpose registry, and multicast (`224.0.0.0/4`). */
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
 * Only `2000::/3` of IPv6 is public, which excludes loopback, unique-local, link-local, multicast, IPv4-mapped and NAT64
 * addresses. `INTERNAL_6` lists the ranges in it that are not routed or that embed an unchecked IPv4 address.
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
      // A zone (`%`) belongs to a link of this machine.
      return !address.includes("%") && routed.check(address, "ipv6") && !internal.check(address, "ipv6");
    default:
      return false;
  }
}
