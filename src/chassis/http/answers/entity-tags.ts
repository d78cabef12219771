/** The entity tag of a version of a record: a number, or the moment of its last change (RFC 9110, section 8.8.3). */
export function entityTag(version: unknown): string {
  return `"${version instanceof Date ? version.getTime() : String(version)}"`;
}

/** The tags of an If-Match or If-None-Match header; `*` stands for any. Undefined where the header is missing. */
export function readEntityTags(header: string | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return tags.includes('*') ? '*' : tags;
}

/** Whether a header names this tag; If-None-Match compares weakly, so proxies may have marked it as weak. */
export function namesTag(header: string | undefined, tag: string): boolean {
  const tags = readEntityTags(header);
  return tags === '*' || (tags?.some((one) => one.replace(/^W\//, '') === tag) ?? false);
}
