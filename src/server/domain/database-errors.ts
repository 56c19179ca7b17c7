// classes of SQLSTATE codes, and codes of Node
const busyCodes =
  /^(57014|55P03|53\d{3}|57P\d{2}|08\d{3}|25P03|40001|40P01|ECONNREFUSED|ECONNRESET|EPIPE)$/
// pg gives these errors no code, so their messages are compared
const lostConnection =
  /timeout exceeded when trying to connect|Connection terminated|is not queryable/

export function isTemporaryDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', syscall } = error as Error & { code?: unknown; syscall?: unknown } // as: Node's
  // ENOENT means that a stopped server has removed its socket file
  return syscall === 'connect' || busyCodes.test(String(code)) || lostConnection.test(error.message)
}
