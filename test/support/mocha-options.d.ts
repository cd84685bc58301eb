declare module "mocha/lib/cli/options.cjs" {
  /** mocha's own reading of its command line. `_` has the arguments that are neither options nor values of options. */
  export function loadOptions(args: readonly string[]): { readonly _?: readonly string[] };
}
