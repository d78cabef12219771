import { read, repositoryFiles } from './repository.ts';

/** A fenced block of code of a document. */
export interface CodeBlock {
  file: string;
  /** The line of its first fence, from 1. */
  line: number;
  language: string;
  /** What stands behind the language in the first fence. */
  info: string;
  code: string;
  /** The hidden comment `<!-- ts … -->` right above it, which has what the block needs and readers do not. */
  context: string;
}

/** Every document of the repository but the contract and what is generated from code. */
export const documents = repositoryFiles(/\.md$/).filter(
  (file) => !/^docs\/reference\/(spec|api)\.md$/.test(file) && file !== 'CHANGELOG.md',
);

const block = /(?:<!-- ts\n((?:(?!-->)[\s\S])*?)-->\n+)?^( *)```(\w*) *([^\n`]*)\n([\s\S]*?)^\2```$/gm;

/** The blocks of a language in all documents. */
export function codeBlocks(...languages: string[]): CodeBlock[] {
  return documents.flatMap((file) => {
    const text = read(file);
    return [...text.matchAll(block)].flatMap(
      ([all, context = '', indent = '', language = '', info = '', code = '']) => {
        if (!languages.includes(language)) return [];
        const start = text.indexOf(all) + all.indexOf('```');
        const line = text.slice(0, start).split('\n').length;
        return [{ file, line, language, info, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''), context }];
      },
    );
  });
}
