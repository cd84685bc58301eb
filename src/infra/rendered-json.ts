/** A JSON answer that is rendered already. */
export class RenderedJson {
  /** JSON in UTF-8. Empty if the client has it (If-None-Match): it gets a 304. */
  readonly body: Buffer;
  /** The strong entity tag, in double quotes: the same for the same bytes on every replica. */
  readonly tag: string;

  constructor(body: Buffer, tag: string) {
    this.body = body;
    this.tag = tag;
  }
}
