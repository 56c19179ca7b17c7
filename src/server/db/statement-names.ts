/** Each connection keeps every statement that it has prepared, so their number is bounded. */
const maxNames = 500
const names = new Map<string, string>()

/**
 * Returns the name under which PostgreSQL prepares a SQL text, so that it parses and plans it once per
 * connection. Returns undefined after 500 texts; further ones are parsed with each call.
 */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = `k${names.size}`
    names.set(text, name)
  }
  return name
}
