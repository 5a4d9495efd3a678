import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/notify/address-rules.ts";
import { checkedLookup, RefusedAddress, whyRefused } from "../../src/notify/checked-lookup.ts";

describe("`isPublicAddress`", () => {
  it.each([
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["the unspecified address", "0.0.0.0"],
    ["a private network", "10.1.2.3"],
    ["a private network", "172.16.0.1"],
    ["a private network", "172.31.255.255"],
    ["a private network", "192.168.1.1"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["carrier-grade NAT", "100.127.255.255"],
    ["link-local", "169.254.1.1"],
    ["the metadata service of a cloud", "169.254.169.254"],
    ["the metadata service of another cloud", "100.100.100.200"],
    ["protocol assignments", "192.0.0.1"],
    ["documentation", "203.0.113.9"],
    ["benchmarks", "198.19.0.1"],
    ["multicast", "224.0.0.1"],
    ["multicast", "239.255.255.255"],
    ["a reserved range", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["loopback", "::1"],
    ["the unspecified address", "::"],
    ["unique-local", "fc00::1"],
    ["unique-local", "fd12:3456::1"],
    ["the metadata service of a cloud", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%lo"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["IPv4 mapped", "::ffff:127.0.0.1"],
    ["IPv4 mapped, in hexadecimal", "::ffff:7f00:1"],
    ["IPv4 mapped", "::ffff:169.254.169.254"],
    ["IPv4 compatible", "::127.0.0.1"],
    ["IPv4 behind NAT64", "64:ff9b::7f00:1"],
    ["IPv4 in 6to4", "2002:7f00:1::"],
    ["IPv4 in Teredo", "2001:0:7f00:1::"],
    ["documentation", "2001:db8::1"],
    ["the discard prefix", "100::1"],
    ["a text that is no address", "localhost"],
    ["a text that is no address", "2130706433"],
    ["a text that is no address", ""],
  ])("rejects %s: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "223.255.255.255", "2606:4700::1111", "2a00::1"])(
    "accepts an address on the internet: %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("A host name", () => {
  const lookUp = (host: string, all: boolean) =>
    new Promise((resolve, reject) => {
      checkedLookup(host, { all }, (error, address, family) => (error ? reject(error) : resolve([address, family])));
    });

  it("that resolves to an internal address is refused, with and without `all`", async () => {
    for (const host of ["localhost", "127.0.0.1", "::1", "169.254.169.254"]) {
      for (const all of [true, false]) await expect(lookUp(host, all)).rejects.toBeInstanceOf(RefusedAddress);
    }
  });

  it("that resolves to internal and public addresses is refused as a whole", () => {
    const found = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
    expect(whyRefused("x.example", found("1.1.1.1", "10.0.0.1"))).toBeInstanceOf(RefusedAddress);
    expect(whyRefused("x.example", found("1.1.1.1", "8.8.8.8"))).toBeNull();
  });

  it("that resolves to a public address yields exactly the checked address", async () => {
    expect(await lookUp("93.184.216.34", false)).toEqual(["93.184.216.34", 4]);
    expect(await lookUp("93.184.216.34", true)).toEqual([[{ address: "93.184.216.34", family: 4 }], undefined]);
  });
});
