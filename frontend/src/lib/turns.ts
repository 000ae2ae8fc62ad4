// A browser opens few connections to a server. Pictures from slow suppliers must not take all of them:
// so many load at once, and the rest wait in line.
export function makeTurns(atOnce: number) {
  let running = 0;
  const line: (() => void)[] = [];
  const next = () => {
    while (running < atOnce && line.length > 0) {
      running += 1;
      line.shift()?.();
    }
  };
  /** Calls back when it is one's turn; the answer ends the turn, or leaves the line. */
  return function takeTurn(go: () => void): () => void {
    let over = false;
    let begun = false;
    const begin = () => {
      begun = true;
      go();
    };
    line.push(begin);
    next();
    return () => {
      if (over) return;
      over = true;
      if (begun) running -= 1;
      else line.splice(line.indexOf(begin), 1);
      next();
    };
  };
}
