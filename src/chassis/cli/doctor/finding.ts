/** What the doctor looked at, and found. */
export interface Finding {
  readonly what: string;
  readonly found: string;
  /** How to mend it; undefined where it is well. */
  readonly mend?: string;
}
