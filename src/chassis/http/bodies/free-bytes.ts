/** What is shorter is left to the garbage collector, in bytes. */
const leastBytes = 4_096;

/**
 * Gives the memory of bytes back at once; nothing may use them any more, nor a part of them. By itself V8 gives back what
 * lies outside of its heap only once it collects garbage: while many large bodies come in, that is several times what they
 * hold, and the C library keeps most of it. Bytes that share their memory with others stay as they are.
 */
export function freeBytes({ buffer, length }: Buffer): void {
  if (length >= leastBytes && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
