/** Tells whether the path is below `/log/` or `/logs/`, where the process with the files of logs answers. */
export function isLogPath(target: string): boolean {
  return /^\/logs?\//.test(target)
}
