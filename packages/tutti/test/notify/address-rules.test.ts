// Which addresses a webhook may go to, and that a name is judged by what it stands for.
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/notify/address-rules.ts";
import { checkedLookup, RefusedAddress, whyRefused } from "../../src/notify/checked-lookup.ts";

describe("an address", () => {
  it.each([
    ["this machine", "127.0.0.1"],
    ["this machine", "127.255.255.254"],
    ["no address", "0.0.0.0"],
    ["a private one", "10.1.2.3"],
    ["a private one", "172.16.0.1"],
    ["a private one", "172.31.255.255"],
    ["a private one", "192.168.1.1"],
    ["a provider's own (CGNAT)", "100.64.0.1"],
    ["a provider's own (CGNAT)", "100.127.255.255"],
    ["link-local", "169.254.1.1"],
    ["what a cloud tells its machines", "169.254.169.254"],
    ["what another cloud tells its machines", "100.100.100.200"],
    ["for protocols", "192.0.0.1"],
    ["for documentation", "203.0.113.9"],
    ["for benchmarks", "198.19.0.1"],
    ["multicast", "224.0.0.1"],
    ["multicast", "239.255.255.255"],
    ["reserved", "240.0.0.1"],
    ["everybody", "255.255.255.255"],
    ["this machine", "::1"],
    ["no address", "::"],
    ["unique-local", "fc00::1"],
    ["unique-local", "fd12:3456::1"],
    ["what a cloud tells its machines", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with its zone", "fe80::1%lo"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["IPv4 mapped", "::ffff:127.0.0.1"],
    ["IPv4 mapped, in hexadecimal", "::ffff:7f00:1"],
    ["IPv4 mapped", "::ffff:169.254.169.254"],
    ["IPv4 compatible", "::127.0.0.1"],
    ["IPv4 behind NAT64", "64:ff9b::7f00:1"],
    ["IPv4 in 6to4", "2002:7f00:1::"],
    ["IPv4 in Teredo", "2001:0:7f00:1::"],
    ["for documentation", "2001:db8::1"],
    ["discard", "100::1"],
    ["no address at all", "localhost"],
    ["no address at all", "2130706433"],
    ["no address at all", ""],
  ])("that is %s is not public: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "223.255.255.255", "2606:4700::1111", "2a00::1"])(
    "on the internet is public: %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("a name", () => {
  const lookUp = (host: string, all: boolean) =>
    new Promise((resolve, reject) => {
      checkedLookup(host, { all }, (error, address, family) => (error ? reject(error) : resolve([address, family])));
    });

  it("that stands for an internal address is refused, however it is asked for", async () => {
    for (const host of ["localhost", "127.0.0.1", "::1", "169.254.169.254"]) {
      for (const all of [true, false]) await expect(lookUp(host, all)).rejects.toBeInstanceOf(RefusedAddress);
    }
  });

  it("that stands for an internal address beside public ones is refused as a whole", () => {
    const found = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
    expect(whyRefused("x.example", found("1.1.1.1", "10.0.0.1"))).toBeInstanceOf(RefusedAddress);
    expect(whyRefused("x.example", found("1.1.1.1", "8.8.8.8"))).toBeNull();
  });

  it("that stands for a public one leads to the very address that was checked", async () => {
    expect(await lookUp("93.184.216.34", false)).toEqual(["93.184.216.34", 4]);
    expect(await lookUp("93.184.216.34", true)).toEqual([[{ address: "93.184.216.34", family: 4 }], undefined]);
  });
});
