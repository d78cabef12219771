/** Begins the line in which a run in a cluster prints what it measured. */
export const summaryMark = 'SUMMARY ';

/** What a run writes to stderr when its setup is over, for the command, which measures CPU from then on. */
export const setupEnd = 'the setup is over';
