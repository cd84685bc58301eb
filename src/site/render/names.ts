import GithubSlugger from "github-slugger";
import type { Listed } from "./contract.ts";

/** Turns a title into a part of an address: `Quiet hours` becomes `quiet-hours`. */
export function slugOf(title: string): string {
  return new GithubSlugger().slug(title);
}

/** The page of the reference that holds a tag's operations. */
export function tagSlug(tag: string): string {
  return `reference-${slugOf(tag)}`;
}

export function operationPath({ tag, operationId }: Listed): string {
  return `/docs/${tagSlug(tag)}#${operationId}`;
}

export function schemaPath(name: string): string {
  return `/docs/schemas#${slugOf(name)}`;
}

export function headerPath(name: string): string {
  return `/docs/headers#${slugOf(name)}`;
}
