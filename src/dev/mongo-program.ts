/** A program that speaks MongoDB's protocol, and how it is run. */
export interface MongoProgram {
  readonly name: string;
  readonly command: string;
  args(dir: string, port: number): string[];
  /** Name of its folder inside a data folder: the two kinds cannot read each other's files. */
  readonly folder: string;
}
