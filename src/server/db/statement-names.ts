const maxNames = 500
const names = new Map<string, string>()

/**
 * A statement name for a SQL text, so that the server parses and plans it once per connection. Beyond
 * 500 texts there is none: every connection keeps what it has named.
 */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (name === undefined && names.size < maxNames) {
    name = `k${names.size}`
    names.set(text, name)
  }
  return name
}
