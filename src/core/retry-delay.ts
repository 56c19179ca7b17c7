const delaySeconds = [0, 1, 3, 5, 10, 20]

/**
 * Returns undefined after the last attempt. `random` varies the delay by up to a fifth, so that
 * many clients do not retry at the same moment.
 */
export function retryDelayMs(failures: number, random: number): number | undefined {
  const seconds = delaySeconds[failures - 1]
  return seconds === undefined ? undefined : Math.round(seconds * 1000 * (0.8 + 0.4 * random))
}
