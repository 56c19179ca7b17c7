import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

// G-04

const root = join(import.meta.dirname, '../..')
/**
 * Options of the checker. The seed is fixed, and the timeouts are so long that the checker's limits
 * on steps end each search. So a busy machine gets the same result.
 */
const bounds = {
  timeout: 110_000,
  recallTimeout: -1,
  randomSeed: 0,
  incubationTimeout: 100_000,
  attackTimeout: 100_000
}
const files = sourcesOf('src')
const literals = files.flatMap(file =>
  literalsOf(readFileSync(join(root, file), 'utf8')).map(literal => ({ file, ...literal }))
)

describe('no text makes a pattern of ours slow', () => {
  test('and every literal is looked at', () => {
    expect(files.length).toBeGreaterThan(100)
    expect(literals.length).toBeGreaterThan(60)
    expect(literalsOf('const a = /a+$/u; b.split(/,/)')).toEqual([
      { source: 'a+$', flags: 'u' },
      { source: ',', flags: '' }
    ])
    const page = `---\nconst a = /a/\n---\n<p {b}><img src={c.replace(/d/, '')}>it's {/e/.test(f) && <br>}</p>
      <script>g.split(/h/)</script><p>{i.match(/j/g)}</p>`
    expect(literalsOf(page).map(({ source }) => source)).toEqual(['a', 'd', 'e', 'j', 'h'])
  })

  test('and a slow one would be found', async () => {
    expect((await check('^(a|a)*$', '')).status).toBe('vulnerable')
  })

  // one that stands in several files is checked once
  const unique = new Map(literals.map(each => [`${each.source} ${each.flags}`, each]))
  test.each([...unique.values()])('$file: /$source/$flags', async ({ source, flags }) => {
    const found = await check(source, flags, bounds)
    const why = found.status === 'vulnerable' ? found.complexity.summary : 'beyond the checker'
    expect(found.status, `/${source}/ is ${why}: it needs another form`).toBe('safe')
  })
})

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|tsx|astro|js)$/.test(name))
    .map(name => join(folder, name))
}

function literalsOf(text: string): { source: string; flags: string }[] {
  return scriptsOf(text).flatMap(code => {
    const found: { source: string; flags: string }[] = []
    const file = ts.createSourceFile(
      'x.tsx',
      code,
      ts.ScriptTarget.Latest,
      false,
      ts.ScriptKind.TSX
    )
    const walk = (node: ts.Node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        found.push({ source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
      }
      ts.forEachChild(node, walk)
    }
    walk(file)
    return found
  })
}

/**
 * Returns the scripts in a source file. In an Astro file these are the frontmatter, the markup with
 * its expressions, and each script element. Any other file is one script.
 */
function scriptsOf(text: string): string[] {
  const [, head, markup] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  if (head === undefined || markup === undefined) return [text]
  const scripts: string[] = []
  const rest = markup.replace(
    /(<(script|style)\b[^>]*>)([\s\S]*?)(?=<\/\2>)/g,
    (_all, tag, name, code) => {
      if (name === 'script') scripts.push(code)
      return tag
    }
  )
  // as JSX it has faults, such as tags without an end, over which the parser goes
  return [head, `<>${rest}</>`, ...scripts]
}
