// Ends the service in this pod from one moment to the next, as a crash does: no signal handler, no last answer.
// The first process of a container is safe from SIGKILL of its own pod, so it is told to by its debugger.
process.kill(1, 'SIGUSR1');
for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
  const targets = await fetch('http://127.0.0.1:9229/json').catch(() => undefined);
  const [target] = (await targets?.json()) ?? [];
  if (!target) continue;
  const debuggerOf = new WebSocket(target.webSocketDebuggerUrl);
  debuggerOf.onopen = () =>
    debuggerOf.send('{"id":1,"method":"Runtime.evaluate","params":{"expression":"process.abort()"}}');
  break;
}
