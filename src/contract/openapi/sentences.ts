const declaration = /^(?:export )?(?:const )?(\w+)(?::| = (\w+)?)/

/**
 * Returns the JSDoc sentences of a contract file by the names of its calls (`calls`) and of its
 * other constants and fields (`others`). They are the English of the API's documentation.
 */
export function sentencesIn(source: string): Record<'calls' | 'others', Record<string, string>> {
  const found = { calls: {} as Record<string, string>, others: {} as Record<string, string> }
  for (const commented of source.split('/**').slice(1)) {
    const [comment = '', code = ''] = commented.split('*/')
    const [, name = '', maker = ''] = declaration.exec(code.trimStart()) ?? []
    const lines = comment.split('\n').map(line => line.trim().replace(/^\*/, '').trim())
    const text = lines.join(' ').trim().replaceAll("'", '’')
    found[/endpoint$/i.test(maker) ? 'calls' : 'others'][name] = text
  }
  return found
}
