/** Folders of test/ that have a suite of their own, because they are too slow for every change. `npm test` leaves them out. */
export const OTHER_SUITES: readonly string[] = [
  "exactness",
  "faults",
  "k8s",
  "load",
  "monitoring",
  "upgrade",
  "containers",
  "pdf",
  "mirrors",
  "model",
  "browser",
  "clients",
];
