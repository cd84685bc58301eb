/** Returns the URL with its users and passwords hidden, for logs and errors: those before its host and those of Sentinels. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@").replace(/\b(sentinel(?:Username|Password))=[^&#]*/g, "$1=…");
}
