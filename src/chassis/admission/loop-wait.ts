/** Less idle time than this is what the loop takes to ask for events. */
const idleMs = 1;

/**
 * How long a request waits for the event loop: as long as one turn takes, because what comes in now is looked at when the
 * turn under way has ended. Costs one immediate for each turn that brings requests, and nothing while none come.
 */
export class LoopWait {
  #lastMs = 0;
  #beganAt = 0;
  #endedAt = 0;
  #endedTurn = 0;
  #endedIdleMs = 0;
  #underWay = false;

  /** Milliseconds of the last turn, or of the one under way once it is longer; to be asked when a request comes. */
  at(now: number): number {
    if (!this.#underWay) this.#begin(now);
    return Math.max(this.#lastMs, now - this.#beganAt);
  }

  #begin(now: number): void {
    this.#underWay = true;
    setImmediate(this.#end);
    const idle = performance.nodeTiming.idleTime - this.#endedIdleMs;
    const turns = Math.max(1, turnNumber() - this.#endedTurn);
    // Of turns that brought no request only the mean is known. One that ended before a rest let nobody wait.
    if (turns > 1 || idle > idleMs) this.#lastMs = 0;
    this.#beganAt = now - Math.max(0, now - this.#endedAt - idle) / turns;
  }

  readonly #end = () => {
    this.#underWay = false;
    this.#endedAt = performance.now();
    this.#endedTurn = turnNumber();
    this.#endedIdleMs = performance.nodeTiming.idleTime;
    this.#lastMs = this.#endedAt - this.#beganAt;
  };
}

function turnNumber(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}
