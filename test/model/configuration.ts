/** One run of TLC: a module with its constants, and what TLC must find. */
export interface Configuration {
  /** Unique. Also the name of the row in RESULTS.md. */
  readonly name: string;
  readonly module: "Limiter" | "Feed" | "Hold";
  /** What the run covers, or which protection is missing from it, in one short sentence. */
  readonly about: string;
  /** The module's constants, as text in TLA+. */
  readonly constants: Readonly<Record<string, string>>;
  readonly invariants: readonly string[];
  /** Temporal properties, if the module has some. */
  readonly properties?: readonly string[];
  /** Names of operators that bound the states or the steps, or that name a symmetry. */
  readonly constraint?: string;
  readonly symmetry?: string;
  /** `small` configurations run with every change. `large` ones take minutes and are run by hand. */
  readonly size: "small" | "large";
  /** Only for mutants: the invariant or property that TLC must find violated. */
  readonly violates?: string;
}
