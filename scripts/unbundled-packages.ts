/** Packages that the build leaves where they are, because they are more than JavaScript, or are found by their path. */
export const unbundledPackages = [
  // Loads the compiled library of the machine that it runs on.
  'libsql',
  // Files that the API page serves.
  'swagger-ui-dist',
  // Five megabytes of WebAssembly, for migrations only.
  '@prisma/schema-engine-wasm',
];
