import { randomBytes } from "node:crypto";
import { loadAddressHash } from "../../../src/reminders/address-hash.ts";
import type { Link } from "../../../src/reminders/link-store.ts";
import { reminderStores } from "../../../src/reminders/stores.ts";
import type { Service, TestAccount } from "../../support/service.ts";

/** A page as a browser gets it. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Opens pages without following redirects. */
export async function open(url: string, init: RequestInit = {}): Promise<Shown> {
  const answer = await fetch(url, { redirect: "manual", ...init });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export function post(url: string, form: Record<string, string | File> = {}): Promise<Shown> {
  const body = new FormData();
  for (const [name, value] of Object.entries(form)) body.append(name, value);
  return open(url, { method: "POST", ...(Object.keys(form).length === 0 ? {} : { body }) });
}

/**
 * Makes a link for the address that the recipient has now. `to` is `candidate` or the id of a reference. Returns its URL.
 * @param more what links of messages have, and those of earlier releases have not.
 */
export async function linkTo(
  service: Service,
  account: TestAccount,
  id: string,
  to: string,
  more: Pick<Link, "language" | "questions" | "expires_at"> = {},
): Promise<string> {
  const { email, references } = (await account.client.get(`/candidates/${id}`)).body;
  const address = to === "candidate" ? email : references.find((reference) => reference.id === to)?.email;
  return linkFor(service, { accountId: account.id, id, to, ...more }, address ?? "");
}

/** Makes a link for the owner of an address. Returns its URL. */
export async function linkFor(
  { operators: { mongo }, url }: Pick<Service, "url"> & { readonly operators: Pick<Service["operators"], "mongo"> },
  of: Omit<Link, "address">,
  email: string,
): Promise<string> {
  const addresses = await loadAddressHash(mongo, randomBytes);
  const { links } = reminderStores(mongo, addresses, randomBytes);
  const token = await links.add({ ...of, address: addresses.of(email) });
  return `${url}/${of.to === "candidate" ? "u" : "r"}/${token}`;
}

/** Sends answers as the page's form does, by the number of the question, from 0. */
export async function answerQuestions(url: string, answers: Record<number, string>): Promise<Shown> {
  const { text } = await open(`${url}/questions`);
  const fields = [...text.matchAll(/<textarea [^>]*name="([^"]+)"/g)].map(([, name]) => name ?? "");
  return post(
    `${url}/questions`,
    Object.fromEntries(Object.entries(answers).map(([n, answer]) => [fields[Number(n)] ?? `none-${n}`, answer])),
  );
}

export const PDF = (name = "passport.pdf") => new File(["%PDF-1.4\n"], name, { type: "application/pdf" });
