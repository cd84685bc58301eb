import { expect } from "chai";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { useNoService } from "../support/use-service.ts";

describe("The name of an address", () => {
  useNoService();
  const addresses = new AddressHash(Buffer.alloc(32, 1));

  const SAME: [string, ...string[]][] = [
    ["ann@corp.example", "ANN@Corp.Example", "ann+jobs@corp.example", "ann+1+2@corp.example", '"ann"@corp.example'],
    ["ann.lee@gmail.com", "annlee@gmail.com", "a.n.n.l.e.e+x@GMAIL.com", "annlee@googlemail.com"],
    ["ann@münchen.example", "ann@xn--mnchen-3ya.example", "ann@MÜNCHEN.example", "ann@mu\u0308nchen.example"],
    ["josé@corp.example", "jose\u0301@corp.example", "JOSÉ@corp.example"],
    ["annlee@proton.me", "ann-lee@proton.me", "Ann_Lee@protonmail.com", "ann.lee+x@pm.me"],
    ["ann@icloud.com", "ann@me.com", "Ann+x@mac.com"],
    ["ann.lee@yandex.ru", "ann-lee@ya.ru", "Ann.Lee+x@yandex.com"],
    ["ann@fastmail.com", "anything@ann.fastmail.com"],
    ['"a b"@corp.example', '"a\\ b"@corp.example'],
  ];
  for (const [first, ...others] of SAME)
    it(`is that of ${first}, however it is spelled`, () => {
      for (const other of others) expect(addresses.of(other), other).to.equal(addresses.of(first));
    });

  it("is another one for another mailbox", () => {
    const all = [
      "ann-lee@icloud.com",
      "ann.lee@icloud.com",
      "a@fastmail.com",
      "a@b.fastmail.com",
      "ann@corp.example",
      "an.n@corp.example",
      "bob@corp.example",
      "ann@corp2.example",
      "+ann@corp.example",
    ];
    expect(new Set(all.map((email) => addresses.of(email)))).to.have.length(all.length);
  });

  it("cannot be guessed without the key", () => {
    expect(new AddressHash(Buffer.alloc(32, 2)).of("ann@corp.example")).to.not.equal(addresses.of("ann@corp.example"));
  });
});
