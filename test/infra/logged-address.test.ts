import { expect } from "chai";
import { loggedAddress } from "../../src/infra/address.ts";

describe("the address of a client in the log", () => {
  const both = (address: string | undefined) => [loggedAddress(address, "truncated"), loggedAddress(address, "full")];

  it("is cut to the /24 of an IPv4 address, also from its forms as IPv6", () => {
    expect(both("192.0.2.7")).to.deep.equal(["192.0.2.0/24", "192.0.2.7"]);
    for (const mapped of ["::ffff:192.0.2.7", "::ffff:c000:207", "0:0:0:0:0:FFFF:192.0.2.7"])
      expect(both(mapped), mapped).to.deep.equal(["192.0.2.0/24", "192.0.2.7"]);
  });

  it("is cut to the /48 of an IPv6 address", () => {
    expect(both("2001:db8:85a3:8d3:1319:8a2e:370:7348")).to.deep.equal([
      "2001:db8:85a3::/48",
      "2001:db8:85a3:8d3:1319:8a2e:370:7348",
    ]);
    expect(loggedAddress("::1", "truncated")).to.equal("0:0:0::/48");
    expect(loggedAddress("fe80::1%eth0", "truncated")).to.equal("fe80:0:0::/48");
  });

  it("is left out if it is none: X-Forwarded-For may hold any text", () => {
    for (const text of [undefined, "", "ada@example.com", "192.0.2.7:80", "unknown", "1.2.3"])
      expect(both(text), text).to.deep.equal([undefined, undefined]);
  });
});
