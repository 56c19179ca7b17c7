/**
 * The most SQL texts that get a name and are prepared under it. Each connection keeps its prepared
 * statements in memory until it is closed.
 */
const maxNames = 500
const names = new Map<string, string>()

/**
 * Returns the name under which PostgreSQL prepares a SQL text, so that each connection parses and
 * plans it once. Returns undefined for further texts once 500 have a name; these are parsed at
 * every call.
 */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = `k${names.size}`
    names.set(text, name)
  }
  return name
}
