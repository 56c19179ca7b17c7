const commented = /\/\*\*((?:(?!\*\/).)*)\*\/\s*(?:export )?(?:const )?(\w+)(?::| = (\w+)?)/gs

/**
 * Returns the JSDoc sentences of a contract file by the names of its calls (`calls`) and of its
 * other constants and fields (`others`). They are the English of the API's documentation.
 */
export function sentencesIn(source: string): Record<'calls' | 'others', Record<string, string>> {
  const found = { calls: {} as Record<string, string>, others: {} as Record<string, string> }
  for (const [, comment = '', name = '', maker = ''] of source.matchAll(commented)) {
    const text = comment
      .replace(/\s*\n\s*\* ?/g, ' ')
      .replaceAll("'", '’')
      .trim()
    found[/endpoint$/i.test(maker) ? 'calls' : 'others'][name] = text
  }
  return found
}
