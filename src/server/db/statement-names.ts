/**
 * The most statements that are prepared. Each connection keeps every statement that it has
 * prepared.
 */
const maxNames = 500
const names = new Map<string, string>()

/**
 * Returns the name under which PostgreSQL prepares a SQL text, so that each connection parses and
 * plans it once. Returns undefined after 500 texts; further texts are parsed at every call.
 */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = `k${names.size}`
    names.set(text, name)
  }
  return name
}
