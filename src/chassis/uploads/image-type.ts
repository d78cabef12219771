/** The types of image that may be uploaded. Neither SVG nor anything else that can hold a script is among them. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** How many bytes of a file tell its type. */
export const imageHeadLength = 12;

/** The file name extension of each type. */
export const imageExtensions: Readonly<Record<ImageType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

const signatures: readonly (readonly [ImageType, hex: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/gif', /^47494638(37|39)61/],
];

/** The type of an image by its first twelve bytes, whatever its name says; undefined when it is none. */
export function imageType(head: Buffer): ImageType | undefined {
  const hex = head.toString('hex', 0, imageHeadLength);
  return signatures.find(([, signature]) => signature.test(hex))?.[0];
}
