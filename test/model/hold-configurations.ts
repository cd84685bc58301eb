import type { Configuration } from "./configuration.ts";

const PROTECTIONS = {
  "compare-and-set": "a replacement names the version that it replaces",
  "check-in-write": "what is checked for a hold is the row that the write replaces",
} as const;

const holds: Configuration = {
  name: "hold",
  module: "Hold",
  about: "the sweep and a client erase, while others set and lift a hold and change something else",
  constants: constants(Object.keys(PROTECTIONS)),
  invariants: ["HeldStays"],
  size: "small",
};

function constants(protections: readonly string[]) {
  const all = protections.map((name) => JSON.stringify(name)).join(", ");
  return { Erasers: '{"sweep", "client"}', Patches: "4", Protections: `{${all}}` };
}

function without(protection: keyof typeof PROTECTIONS): Configuration {
  const left = Object.keys(PROTECTIONS).filter((name) => name !== protection);
  const about = `without: ${PROTECTIONS[protection]}`;
  return { ...holds, name: `hold, ${about}`, about, constants: constants(left), violates: "HeldStays" };
}

function reaches(violates: string, about: string): Configuration {
  return { ...holds, name: `hold, reaches: ${about}`, about, invariants: [violates], violates };
}

export const HOLD_CONFIGURATIONS: readonly Configuration[] = [
  holds,
  without("compare-and-set"),
  without("check-in-write"),
  reaches("NeverErased", "a candidate is erased"),
  reaches("NeverRaced", "a hold is set between the check and the write"),
];
