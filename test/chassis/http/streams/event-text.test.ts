import { describe, expect, it } from 'vitest';
import { eventText } from '../../../../src/chassis/http/streams/event-text.ts';

describe('the text of an event', () => {
  it.each([
    ['one line', 'a', 'data: a\n\n'],
    ['every kind of line break', 'a\r\nb\rc\nd', 'data: a\ndata: b\ndata: c\ndata: d\n\n'],
    ['an empty line, which would end it', 'a\n\nevent: b', 'data: a\ndata: \ndata: event: b\n\n'],
    ['separators of JavaScript that end no line', { a: '\u2028\u2029' }, 'data: {"a":"\u2028\u2029"}\n\n'],
    ['an empty text', '', 'data: \n\n'],
  ])('holds data with %s as it is', (_name, data, text) => {
    expect(eventText({ data })).toBe(text);
  });

  it('lets no name and no id begin another field', () => {
    const text = eventText({ data: '', event: 'a\ndata: b', id: 'c\r\n\nd' });
    expect(text).toBe('event: a data: b\nid: c   d\ndata: \n\n');
  });
});
