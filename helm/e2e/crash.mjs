// Ends the service in this pod from one moment to the next, as a crash does: requests under way get no answer. The first
// process of a container is safe from SIGKILL of its own pod, but at a second signal the service exits at once.
process.kill(1, 'SIGTERM');
process.kill(1, 'SIGINT');
