import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** No secret, certificate or key is longer. */
const maximumBytes = 65_536;

/**
 * The text of a file that holds a setting, without its last line break. Symbolic links are followed, which is how
 * Kubernetes mounts secrets.
 *
 * @throws Error for what is no regular file, such as a device or a pipe that never ends, for more than 64 KB, and for a
 * file that cannot be read; the message says which
 */
export function readSettingFile(path: string): string {
  // Otherwise to open a pipe would wait for its writer, and to read a file of the kernel's log for its next line.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error('expected a regular file');
    const bytes = Buffer.alloc(maximumBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > maximumBytes) throw new Error(`expected at most ${maximumBytes} bytes`);
    return bytes.toString('utf8', 0, length).replace(/\r?\n$/, '');
  } finally {
    closeSync(file);
  }
}
