import { expect } from "chai";
import { isPhone, phoneFault, phoneOf } from "../../src/schema/phone.ts";

describe("A phone number", () => {
  const FAULTS: Record<string, string> = {
    "(415) 555-0123": "start with + and the country code, for example +14155550123",
    "": "start with + and the country code, for example +14155550123",
    "1+4155550123": "start with + and the country code, for example +14155550123",
    [`+1${"-".repeat(39)}4155550123`]: "have at most 50 characters, for example +14155550123",
    [`+1${"-".repeat(38)}415555012`]:
      "be a single phone number in digits with its country code, for example +14155550123",
    "+1 415 555 0123 ext. 5": "be a phone number without an extension, for example +14155550123",
    "tel:+1 415 555 0123;ext=5": "be a phone number without an extension, for example +14155550123",
    "+999 123456": "begin with an existing country code, for example +14155550123 or +4930123456",
    "+43 1 58858 / 58859": "be one phone number only, for example +14155550123",
    "+43 1 58858 \\ 58859": "be one phone number only, for example +14155550123",
    "+43 1 58858 | 58859": "be one phone number only, for example +14155550123",
    "+43 1 58858; 58859": "be a phone number without an extension, for example +14155550123",
    "+43 1 58858, 58859": "be a phone number without an extension, for example +14155550123",
    "+43 1 234567 0043 1 2": "be one phone number only, for example +14155550123",
    "+43 1 234567 (0043) 1 2": "be one phone number only, for example +14155550123",
    "+43-1-234567-0043-1-2": "be one phone number only, for example +14155550123",
    "+43 1 234567\t00491511234567": "be one phone number only, for example +14155550123",
    "+49 89 0012 34 0049 30 1234": "be one phone number only, for example +14155550123",
    "+43 1 234567 +43 1 2": "be a single phone number in digits with its country code, for example +14155550123",
    "+1 212 555 0012 x34": "be a phone number without an extension, for example +14155550123",
    "+1 415 555 0123 Ann": "be a single phone number in digits with its country code, for example +14155550123",
    "+1-800-FLOWERS": "be a single phone number in digits with its country code, for example +14155550123",
    "+": "be a single phone number in digits with its country code, for example +14155550123",
    "+1": "be a single phone number in digits with its country code, for example +14155550123",
  };
  for (const [text, fault] of Object.entries(FAULTS))
    it(`that is written ${JSON.stringify(text)} must ${fault.split(", for example")[0]}`, () => {
      expect(phoneFault(text)).to.equal(fault);
      expect(phoneOf(text)).to.equal(text);
    });

  it("is read from every usual form", () => {
    const forms = {
      "+1 (415) 555-0123": "+14155550123",
      "TEL:+1-415-555-0123": "+14155550123",
      " tel:+1.415.555.0123": "+14155550123",
      "\u200E+1 415\u200B 555 0123\u202C ": "+14155550123",
      "＋４９ ３０ １２３４５６": "+4930123456",
      "+49 30 1200 3400": "+493012003400",
      "+49 30 12 00": "+49301200",
      "+44 (0)20 7946 0958": "+442079460958",
      "+1\t212 \t555\n0012": "+12125550012",
    };
    for (const [form, number] of Object.entries(forms)) expect(phoneOf(form), form).to.equal(number);
  });

  it("may have groups that begin with 00, unless a second number begins there", () => {
    const forms = {
      "+1 212 555 0012": "+12125550012",
      "+1 (212) 555-0012": "+12125550012",
      "+1.212.555.0044": "+12125550044",
      "+44 20 7946 0000": "+442079460000",
      "+44 (0)20 7946 0033": "+442079460033",
      "+81 3 0000 1234": "+81300001234",
      "+852 2555 0012": "+85225550012",
      "+49 151 0012 3456": "+4915100123456",
      "+49 30 1234 0012": "+493012340012",
      "+43 1 234567 00123": "+43123456700123",
      "+33 1 40 00 12 34": "+33140001234",
    };
    for (const [form, number] of Object.entries(forms)) expect(phoneOf(form), form).to.equal(number);
  });

  it("is kept as it is in E.164, also with a country code that is not known yet", () => {
    for (const number of [
      "+14155550123",
      "+999123456",
      "+12",
      "+4402079460958",
      "+123456789012345",
      "+919999999999999",
    ]) {
      expect(phoneOf(number)).to.equal(number);
      expect(isPhone(number), number).to.equal(true);
    }
  });

  it("has a plus, 2 to 15 digits and no leading zero in E.164", () => {
    for (const text of [
      "+1",
      "+0123456",
      "+1234567890123456",
      "14155550123",
      "+1415a",
      "x+1415",
      "+14155550123 ",
      "++1415",
    ])
      expect(isPhone(text), text).to.equal(false);
  });
});
