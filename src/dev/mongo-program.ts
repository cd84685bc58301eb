/** A program that speaks MongoDB's protocol, and how to run it. */
export interface MongoProgram {
  readonly name: string;
  readonly command: string;
  args(dir: string, port: number): string[];
  /** Its own folder inside a data folder: mongod and the stand-in cannot read each other's files. */
  readonly folder: string;
}
