const delaySeconds = [0, 1, 3, 5, 10, 20]

/**
 * Returns the milliseconds to wait after a number of failures in a row, or undefined after the last try.
 * The delay varies by a fifth either way, so that many clients do not return at the same moment.
 * `random` is 0 to 1.
 */
export function retryDelay(failures: number, random: number): number | undefined {
  const seconds = delaySeconds[failures - 1]
  return seconds === undefined ? undefined : Math.round(seconds * 1000 * (0.8 + 0.4 * random))
}
