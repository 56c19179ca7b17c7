const delaySeconds = [0, 1, 3, 5, 10, 20]

/**
 * Milliseconds before the next try after so many failures in a row, spread by a fifth either way so
 * that many clients do not return together; nothing once the tries are used up. `random` is 0 to 1.
 */
export function retryDelay(failures: number, random: number): number | undefined {
  const seconds = delaySeconds[failures - 1]
  return seconds === undefined ? undefined : Math.round(seconds * 1000 * (0.8 + 0.4 * random))
}
