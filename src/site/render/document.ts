import GithubSlugger from "github-slugger";
import type { Html } from "../../schema/html.ts";
import type { Operation } from "./contract.ts";

/** A heading that the list "On this page" and the search show. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

/** A page before its frame is added. */
export interface Document {
  /** The last part of its path: `limits` for /docs/limits. Empty for /docs. */
  readonly slug: string;
  readonly title: string;
  /** One or two sentences, as text: for the page's description and the search. */
  readonly lead: string;
  /** What follows the title and the lead. */
  readonly body: Html;
  readonly headings?: readonly Heading[];
  /** Scripts that this page needs besides the common one, by the name of the asset. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** Set if the page takes the whole width, without the list of its headings. */
  readonly wide?: true;
}

/** What a path of the site responds with. */
export interface Rendered {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Pages under one heading of the navigation. */
export interface Section {
  readonly title: string;
  readonly documents: readonly Document[];
}

export function pathOf(slug: string): string {
  return slug === "" ? "/docs" : `/docs/${slug}`;
}

/** Turns a title into a part of an address: `Quiet hours` becomes `quiet-hours`. */
export function slugOf(title: string): string {
  return new GithubSlugger().slug(title);
}

/** The page of the reference that holds a tag's operations. */
export function tagSlug(tag: string): string {
  return `reference-${slugOf(tag)}`;
}

export function operationPath({ tag, operationId }: Operation): string {
  return `/docs/${tagSlug(tag)}#${operationId}`;
}

export function headerPath(name: string): string {
  return `/docs/headers#${slugOf(name)}`;
}
