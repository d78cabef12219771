// Asks a URL until it answers 200 with a text in its body, for at most half a minute.
const [url, text] = process.argv.slice(1);
for (let attempt = 1; ; attempt += 1) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    const body = await response.text();
    if (response.status === 200 && body.includes(text)) break;
    throw new Error(`${url}: expected 200 and ${text}, found ${response.status}: ${body.slice(0, 500)}`);
  } catch (error) {
    if (attempt === 10) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
process.stdout.write(`${url}: 200, with ${text}\n`);
