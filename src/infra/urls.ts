/** Returns the URL with its user and password hidden, for logs and errors. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@");
}
