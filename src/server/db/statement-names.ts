/**
 * Maximum number of SQL texts that are prepared under a name. Each connection keeps its prepared
 * statements in memory until it is closed.
 */
const maxNames = 500
const names = new Map<string, string>()

/**
 * Returns the name under which PostgreSQL prepares a SQL text, so that each connection parses and
 * plans it only once. Only the first 500 texts get a name. For any other text returns undefined;
 * such a text is parsed at every call.
 */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = `k${names.size}`
    names.set(text, name)
  }
  return name
}
