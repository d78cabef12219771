/** Begins the line in which a run in a cluster prints what it measured. */
export const summaryMark = 'SUMMARY ';
