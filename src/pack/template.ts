import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ABRIDGING } from "./abridge.ts";
import { FONTS } from "./fonts.ts";
import WORDING from "./wording.json" with { type: "json" };

/** The template stays in src/pack, whether this file runs from src/pack or from dist/pack. */
export const TEMPLATE_FILE = new URL("../../src/pack/pack.typ", import.meta.url);

/** Identifies what the PDF shows of a pack, and how, in its ETag. */
export const LAYOUT = createHash("sha256")
  .update(readFileSync(TEMPLATE_FILE))
  .update(ABRIDGING)
  .update(JSON.stringify(WORDING))
  .update(FONTS.map(({ family }) => family).join())
  .digest("base64url");
