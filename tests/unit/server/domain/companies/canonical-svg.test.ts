import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../../src/contract/kit/errors.ts'
import {
  canonicalizeSvg,
  canonicalizeThemePictures
} from '../../../../../src/server/domain/companies/canonical-svg.ts'
import { demoTheme } from '../../../../../src/server/domain/demo/demo-theme.ts'
import {
  goodPictures as good,
  hostilePictures as hostile,
  svg,
  svgNamespaceAttribute,
  xlinkNamespaceAttribute
} from '../../../../helpers/pictures.ts'
import { runCount } from '../../../../helpers/soak.ts'

describe('a picture', () => {
  test(`is refused and told what it holds: ${hostile.length} hostile ones`, () => {
    expect(hostile.length).toBeGreaterThanOrEqual(100)
    for (const [what, text] of hostile) {
      const refusal = refusalOf(text)
      expect
        .soft(refusal?.fields?.['logo'], text.slice(0, 120))
        .toMatchObject({ rule: 'svg', limit: what })
      expect(refusal?.status).toBe(422)
    }
  })

  test(`is kept in canonical form: ${good.length} good ones`, () => {
    expect(good.length).toBeGreaterThanOrEqual(20)
    for (const text of good) {
      const canonical = canonicalizeSvg(text, 'logo')
      expect(canonical).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
      expect(canonical).not.toContain('<!--')
      expect(canonicalizeSvg(canonical, 'logo')).toBe(canonical)
    }
    expect(
      canonicalizeSvg(
        `<svg ${svgNamespaceAttribute} viewBox='0 0 1 1'><path d='M0 0'></path></svg>`,
        'logo'
      )
    ).toBe(`<svg ${svgNamespaceAttribute} viewBox="0 0 1 1"><path d="M0 0"/></svg>`)
  })

  test('names its field of the theme', () => {
    expect(canonicalizeThemePictures(demoTheme).logo).toBe(canonicalizeSvg(demoTheme.logo, 'logo'))
    const broken = () => canonicalizeThemePictures({ ...demoTheme, favicon: svg('<script/>') })
    expect(broken).toThrow('favicon')
  })

  test('is refused or harmless, whatever it is made of (E-02)', () => {
    const pieces = fc.constantFrom(
      '<g>',
      '</g>',
      '<rect',
      '/>',
      '>',
      '<script',
      '</script>',
      'alert(1)',
      ' onload="x"',
      ' fill="',
      'url(',
      '#a)',
      'http://x',
      '"',
      "'",
      '&lt;',
      '&#60;',
      '&',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?x ?>',
      '<!DOCTYPE x>',
      ' href="#a"',
      ' xlink:href="x"',
      '<use',
      '<a',
      ' style="',
      'x:y',
      ';',
      ' xmlns="http://www.w3.org/1999/xhtml"',
      ' xmlns:h="http://www.w3.org/1999/xhtml"',
      '<h:a',
      '\\75',
      '\u0000',
      '\ud800',
      'é',
      ' '
    )
    const soup = fc.array(pieces, { maxLength: 25 }).map(parts => svg(parts.join('')))
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 60 })), text => {
        const canonical = refusalOf(text) ? undefined : canonicalizeSvg(text, 'logo')
        if (canonical === undefined) return
        expect(canonicalizeSvg(canonical, 'logo')).toBe(canonical)
        const { names, values } = partsOf(canonical)
        expect(names.filter(name => /^(on|script$|a$|xmlns:)/i.test(name))).toEqual([])
        expect(values.filter(value => /url\s*\(\s*['"]?[^#'"]/i.test(value))).toEqual([])
        expect(canonical).not.toMatch(/<!|<\?/)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
  })

  test('reads as it was written, whatever attributes its elements bear', () => {
    const links = ['href', 'xlink:href', 'l:href'].flatMap(name => [`${name}="#a"`, `${name}="a"`])
    const values = ['url(#a)', '', ' ', '&amp;', '&quot;', '&#10;x', "'", '&gt;']
    const paints = ['fill', 'id', 'class'].flatMap(name =>
      values.map(value => `${name}="${value}"`)
    )
    const spaces = [svgNamespaceAttribute, 'xmlns:l="http://www.w3.org/1999/xlink"']
    const attribute = fc.oneof(...[links, paints, spaces].map(each => fc.constantFrom(...each)))
    const element = fc
      .tuple(fc.constantFrom('use', 'g', 'textPath'), fc.array(attribute, { maxLength: 4 }))
      .map(([name, attributes]) => `<${name} ${attributes.join(' ')}/>`)
    const around = `${xlinkNamespaceAttribute} ${xlinkNamespaceAttribute.replace(':xlink', ':l')}`
    let read = 0
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), elements => {
        const text = svg(elements.join(''), around)
        if (refusalOf(text)) return
        read++
        const canonical = canonicalizeSvg(text, 'logo')
        expect(canonicalizeSvg(canonical, 'logo')).toBe(canonical)
      }),
      { numRuns: runCount(5000, 500_000) }
    )
    expect(read).toBeGreaterThan(500)
  })
})

function refusalOf(text: string): AppError | undefined {
  try {
    canonicalizeSvg(text, 'logo')
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'svg_refused') return error
    throw error
  }
}

/** Returns the names of all elements and attributes of an SVG, and the values of the attributes. */
function partsOf(text: string): { names: string[]; values: string[] } {
  const names: string[] = []
  const values: string[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('opentag', ({ name, attributes }) => {
    names.push(name, ...Object.keys(attributes).filter(each => each !== 'xmlns'))
    values.push(...Object.values(attributes).map(({ value }) => value))
  })
  parser.write(text).close()
  return { names, values }
}
