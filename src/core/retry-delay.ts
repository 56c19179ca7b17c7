const delaySeconds = [0, 1, 3, 5, 10, 20]

/**
 * Returns how many milliseconds to wait before the next attempt, after `failures` failed attempts
 * in a row. Returns undefined if there should be no further attempt. `random`, from 0 to 1, varies
 * the delay by up to a fifth, so that many clients do not retry at the same moment.
 */
export function retryDelayMs(failures: number, random: number): number | undefined {
  const seconds = delaySeconds[failures - 1]
  return seconds === undefined ? undefined : Math.round(seconds * 1000 * (0.8 + 0.4 * random))
}
