import { type ApiDocument, isGuarded, propertiesOf, resolve } from './openapi.ts';

/** A route that takes a picture in a form. JSON, so that k6 can hand it to its users. */
export interface Upload {
  /** e.g. `/api/v1/users/{id}/avatar`. */
  readonly path: string;
  readonly guarded: boolean;
  /** Name of the part of the form. */
  readonly field: string;
}

/** The routes of a document that take one file: POST with a form of which one part is binary. */
export function uploadsOf(document: ApiDocument): Upload[] {
  return Object.entries(document.paths).flatMap(([path, { post }]) => {
    const form = post?.requestBody?.content?.['multipart/form-data']?.schema;
    const parts = Object.entries(propertiesOf(document, form));
    const [field] = parts.find(([, part]) => resolve(document, part).format === 'binary') ?? [];
    return post && field ? [{ path, guarded: isGuarded(document, post), field }] : [];
  });
}
