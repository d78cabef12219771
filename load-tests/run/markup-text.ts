/** A text as it stands in HTML and XML. */
export function markupText(raw: string): string {
  return raw.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
