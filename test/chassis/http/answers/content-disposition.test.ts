import { describe, expect, it } from 'vitest';
import { contentDisposition } from '../../../../src/chassis/http/answers/content-disposition.ts';

describe('contentDisposition', () => {
  it('names a file in both forms', () => {
    expect(contentDisposition("Größe's.csv")).toBe(
      `attachment; filename="Gr__e_s.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%27s.csv`,
    );
  });

  it.each([
    ['a"; x="y', /^attachment; filename="a__ x__y"/],
    ['a\r\nSet-Cookie: b', /^[^\r\n]*$/],
    ['../../a', /filename="\.\._\.\._a"; filename\*=UTF-8''\.\.%2F\.\.%2Fa$/],
    ['half\ud800', /half%EF%BF%BD$/],
  ])('lets %j end neither header nor directory', (filename, form) => {
    expect(contentDisposition(filename)).toMatch(form);
  });

  it('hides no extension behind characters that turn the direction of text', () => {
    expect(contentDisposition('invoice\u202Efdp.exe')).toBe(
      `attachment; filename="invoicefdp.exe"; filename*=UTF-8''invoicefdp.exe`,
    );
  });
});
