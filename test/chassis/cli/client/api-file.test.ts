import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ApiDocument, apiFile } from '../../../../src/chassis/cli/client/api-file.ts';
import { readDocument } from '../../../../src/chassis/cli/client/read-document.ts';
import { FakePeer, jsonAnswer } from '../../../../src/chassis/testing/fake-peer.ts';
import { root } from '../../../house/repository.ts';

/** A document with one operation. */
function anApi(operation: object, schemas: object = {}): ApiDocument {
  return { openapi: '3.1.0', paths: { '/items/{id}': { get: operation } }, components: { schemas } } as ApiDocument;
}

/** What the compiler says of a program beside a client of this API. */
function errorsOf(api: string, program: string): string[] {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache/client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'shop.api.ts'), api);
  writeFileSync(join(folder, 'program.ts'), program);
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const compiled = ts.createProgram([join(folder, 'program.ts')], { ...options, types: [] });
  return ts
    .getPreEmitDiagnostics(compiled)
    .filter(({ file }) => file?.fileName.startsWith(folder))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the types of an API', () => {
  it('are those of a document as this chassis writes it, and a client is checked against them', async () => {
    const payments = await readDocument(join(root, 'test/fixtures/payments/payments.yaml'));
    const types = apiFile(payments);
    // One program, because the compiler reads its libraries for each.
    const program = `import type { HttpClient } from '../../src/chassis/outbound/api-types.ts';
import type { paths } from './shop.api.ts';
declare const shop: HttpClient<paths>;
await shop.post('/charges', { body: { orderId: 'r', cents: 1 } });
await shop.post('/charges', { body: { orderId: 'r', cents: 'many' } });
await shop.post('/charge', { body: { orderId: 'r', cents: 1 } });
`;
    const errors = errorsOf(types, program);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toContain("'string' is not assignable to type 'number'");
    expect(errors[1]).toContain('"/charges"');
  }, 60_000);

  it('know what may be null, left out, one of several, or of any name', () => {
    const schemas = {
      Item: {
        type: 'object',
        required: ['id', 'state'],
        properties: {
          id: { type: 'string' },
          state: { enum: ['open', 'done'] },
          note: { type: ['string', 'null'], description: 'free\ntext' },
          old: { type: 'string', nullable: true },
          parts: { type: 'array', items: { oneOf: [{ $ref: '#/components/schemas/Item' }, { type: 'integer' }] } },
          'x-more': { type: 'object', additionalProperties: { type: 'boolean' } },
        },
      },
    };
    expect(apiFile(anApi({ responses: {} }, schemas))).toContain(`    Item: {
      id: string;
      state: "open" | "done";
      /** free text */
      note?: string | null;
      old?: string | null;
      parts?: (components['schemas']['Item'] | number)[];
      'x-more'?: Record<string, boolean>;
    };
`);
  });

  it('take parameters, bodies and answers where the document keeps them, and refuse what leads nowhere', () => {
    const api = anApi({
      parameters: [{ $ref: '#/components/parameters/Id' }, { name: 'q', in: 'query', schema: { type: 'string' } }],
      responses: { 200: { content: { 'application/json': { schema: { type: 'boolean' } } } }, default: {} },
    });
    const Id = { name: 'id', in: 'path', schema: { type: 'integer' } };
    const text = apiFile({ ...api, components: { parameters: { Id } } } as unknown as ApiDocument);
    expect(text).toContain('path: {\n          id: number;');
    expect(text).toContain('query?: {\n          q?: string;');
    expect(text).toContain("200: {\n          content: {\n            'application/json': boolean;");
    expect(() => apiFile(api)).toThrow('Expected #/components/parameters/Id in the document, found nothing.');
  });
});

it('a document of thousands of levels is refused in words, however it gets deeper', async () => {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache/client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'deep.json');
  const deep = `${'{"items":'.repeat(5000)}{}${'}'.repeat(5000)}`;
  writeFileSync(file, `{"openapi":"3.1.0","paths":{},"components":{"schemas":{"Deep":${deep}}}}`);
  await expect(readDocument(file)).rejects.toThrow(`Expected a document of at most 500 levels at ${file}, found more.`);
});

/** Texts that would end a quote, a line, a comment or a type, and begin a statement. */
const statements = [
  "x': 1 } } } } }; evil(); //",
  'x\n: 1;}\nevil();\n//',
  "\\': 1 };\nevil();//",
  '\u2028evil();',
  '*/ evil(); /*',
];

describe('the types of a hostile API', () => {
  it.each(statements)('are types and nothing else with %j for every text', (text) => {
    const schema = { type: 'object', description: text, required: [text], properties: { [text]: { enum: [text] } } };
    const answer = { content: { [text]: { schema: { type: 'constructor' } } }, description: text };
    const parameters = ['path', 'query', 'header'].map((place) => ({ name: text, in: place, description: text }));
    const operation = { summary: text, parameters, requestBody: answer, responses: { [text]: answer } };
    const api = {
      openapi: '3.1.0',
      paths: { [text]: { get: operation } },
      components: { schemas: { [text]: schema } },
    };
    const { statements: found, ...file } = ts.createSourceFile('a.ts', apiFile(api as never), ts.ScriptTarget.Latest);
    expect(found.map(({ kind }) => ts.SyntaxKind[kind])).toEqual(['InterfaceDeclaration', 'InterfaceDeclaration']);
    expect((file as unknown as { parseDiagnostics: unknown[] }).parseDiagnostics).toEqual([]);
  });
});

describe('a document', () => {
  it('is read of a service, also by the address of its API page', async () => {
    const peer = await FakePeer.open(jsonAnswer(anApi({ responses: {} })));
    onTestFinished(() => peer.close());
    expect(await readDocument(`${peer.url}/api-docs`)).toEqual(anApi({ responses: {} }));
    expect(peer.received.map(({ url }) => url)).toEqual(['/api-docs.json']);
  });

  it('that is none is refused with what was found', async () => {
    const peer = await FakePeer.open(jsonAnswer({ swagger: '2.0' }));
    onTestFinished(() => peer.close());
    await expect(readDocument(peer.url)).rejects.toThrow(/Expected an OpenAPI document of version 3 at .*"swagger"/);
    peer.becomes(jsonAnswer({}, 404));
    await expect(readDocument(peer.url)).rejects.toThrow('got status 404');
    await expect(readDocument('nowhere.json')).rejects.toThrow('found nothing at nowhere.json');
  });
});
