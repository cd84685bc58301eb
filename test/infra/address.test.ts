import { expect } from "chai";
import { addressBlock } from "../../src/infra/address.ts";

describe("addressBlock", () => {
  it("returns an IPv4 address itself, also from its forms as IPv6: mapped, or from a NAT64", () => {
    for (const address of [
      "192.0.2.7",
      "::ffff:192.0.2.7",
      "::ffff:c000:207",
      "0:0:0:0:0:ffff:192.0.2.7",
      "0000::FFFF:C000:0207%eth0",
      "64:ff9b::192.0.2.7",
      "64:ff9b::c000:207",
    ])
      expect(addressBlock(address), address).to.equal("192.0.2.7");
    expect(addressBlock("::ffff:0.0.0.1")).to.equal("0.0.0.1");
    expect(addressBlock("::FFFF:203.113.211.201")).to.equal("203.113.211.201");
  });

  it("returns the /64 of an IPv6 address in any notation", () => {
    for (const address of [
      "2001:db8:0:1::",
      "2001:db8:0:1::1",
      "2001:0DB8::1:ffff:0:0:1",
      "2001:db8:0:1:1:2:3.4.5.6",
      "2001:db8:0:1::9%eth0",
    ]) {
      expect(addressBlock(address), address).to.equal("2001:db8:0:1::/64");
    }
    expect(addressBlock("2001:db8:0:2::1")).to.equal("2001:db8:0:2::/64");
    expect(addressBlock("1::4:5:6:7:8")).to.equal("1:0:0:4::/64");
    expect(addressBlock("::1")).to.equal("0:0:0:0::/64");
    expect(addressBlock("::ffff:0:c000:207"), "only looks mapped").to.equal("0:0:0:0::/64");
    expect(addressBlock("64:ff9b:1::c000:207"), "a NAT64 of its own").to.equal("64:ff9b:1:0::/64");
    expect(addressBlock("1:2:3:4:5:6:7:8")).to.equal("1:2:3:4::/64");
    expect(addressBlock("2001:db8::ffff:192.0.2.7"), "only looks mapped").to.equal("2001:db8:0:0::/64");
  });

  it("returns anything else unchanged", () => {
    for (const text of ["", "unknown", "2001:db8", "::ffff:192.0.2.7.example"])
      expect(addressBlock(text)).to.equal(text);
  });
});
