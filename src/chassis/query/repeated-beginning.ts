/**
 * How many times a text begins with the same at most, whatever follows: 3 for `aaa`, and for `aaab`; 2.5 for `ababa`. To look for it
 * within another text a database compares each character of that about as often, because it begins anew at each and gets that far.
 */
export function repeatsAtBeginning(text: string): number {
  // How much of each beginning stands at its end too, as Knuth, Morris and Pratt find it.
  const borders = new Array<number>(text.length).fill(0);
  let most = 1;
  let border = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1] as number;
    if (text[at] === text[border]) border += 1;
    borders[at] = border;
    most = Math.max(most, (at + 1) / (at + 1 - border));
  }
  return most;
}
