import { existsSync, readFileSync } from 'node:fs';
import type { ApiDocument } from './api-file.ts';

const timeoutMs = 30_000;
/** What is made of a document goes down with it, level by level. */
const mostLevels = 500;

/**
 * Reads an OpenAPI document of version 3, as JSON or YAML.
 *
 * @param source a URL, of a service also that of its API page, or the path of a file
 * @throws Error with what is wrong with it
 */
export async function readDocument(source: string): Promise<ApiDocument> {
  const text = /^https?:\/\//.test(source) ? await download(source) : readFile(source);
  const document = await parsed(text, source);
  if (!/^3\./.test(String(document?.openapi)) || typeof document.paths !== 'object') {
    throw new Error(`Expected an OpenAPI document of version 3 at ${source}, found ${text.slice(0, 80).trim()}`);
  }
  refuseDepth(document, source);
  return document;
}

function refuseDepth(document: object, source: string): void {
  let level = new Set<object>([document]);
  for (let depth = 0; level.size > 0; depth += 1) {
    if (depth > mostLevels)
      throw new Error(`Expected a document of at most ${mostLevels} levels at ${source}, found more.`);
    const parts = [...level].flatMap((part): unknown[] => Object.values(part));
    level = new Set(parts.filter((part): part is object => typeof part === 'object' && part !== null));
  }
}

function readFile(file: string): string {
  if (!existsSync(file)) throw new Error(`Expected a file or a URL, found nothing at ${file}.`);
  return readFileSync(file, 'utf8');
}

async function download(source: string): Promise<string> {
  const url = source.replace(/\/api-docs\/?$/, '/api-docs.json');
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: Error) => {
    throw new Error(`${url} does not answer: ${(error.cause as Error | undefined)?.message ?? error.message}`, {
      cause: error,
    });
  });
  if (!answer.ok) throw new Error(`Expected a document at ${url}, got status ${answer.status}.`);
  return answer.text();
}

async function parsed(text: string, source: string): Promise<ApiDocument> {
  if (text.trimStart().startsWith('{')) return JSON.parse(text);
  try {
    const { parse } = await import('yaml');
    return parse(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`Expected JSON at ${source}. To read YAML: npm install --save-dev yaml`, { cause: error });
  }
}
