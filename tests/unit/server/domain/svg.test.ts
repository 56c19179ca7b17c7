import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/errors.ts'
import { demoTheme, localhostTheme } from '../../../../src/server/domain/seed-themes.ts'
import { canonicalSvg, canonicalTheme } from '../../../../src/server/domain/svg.ts'
import { times } from '../../../helpers/counts.ts'

const ns = 'xmlns="http://www.w3.org/2000/svg"'
const xlink = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
const svg = (inside: string, attributes = '') => `<svg ${ns} ${attributes}>${inside}</svg>`

/** Each as `[what is named, the file]`. */
const hostile: [string, string][] = [
  ...[
    'script',
    'foreignObject',
    'iframe',
    'a',
    'animate',
    'animateTransform',
    'animateMotion',
    'animateColor',
    'set',
    'image',
    'feImage',
    'style',
    'link',
    'meta',
    'object',
    'embed',
    'video',
    'audio',
    'canvas',
    'handler',
    'listener',
    'discard',
    'mpath',
    'view',
    'switch',
    'html',
    'body',
    'math',
    'template',
    'noscript',
    'font',
    'font-face',
    'font-face-uri',
    'glyph',
    'cursor',
    'metadata',
    'solidcolor',
    'hatch',
    'mesh',
    'tref',
    'altGlyph',
    'color-profile',
    'unknown',
    'SCRIPT',
    'Script',
    'feDisplacementMap',
    'base',
    'form',
    'input',
    'textarea',
    'plaintext'
  ].map((name): [string, string] => [`<${name}>`, svg(`<${name}/>`)]),
  ...[
    'onload',
    'onclick',
    'onerror',
    'onbegin',
    'onend',
    'onrepeat',
    'onfocus',
    'onfocusin',
    'onmouseover',
    'onactivate',
    'onscroll',
    'ONLOAD',
    'onunload',
    'ev:event',
    'formaction',
    'srcdoc',
    'src',
    'action',
    'ping',
    'target',
    'download',
    'data-x',
    'requiredExtensions',
    'systemLanguage',
    'externalResourcesRequired',
    'attributeName',
    'from',
    'to',
    'begin',
    'by',
    'contentScriptType',
    'is',
    'slot',
    'part',
    'nonce',
    'xml:base',
    'xml:space'
  ].map((name): [string, string] => [
    name.includes('ev:') ? 'XML' : `${name} in <rect>`,
    svg(`<rect ${name}="x"/>`)
  ]),
  ...[
    'https://evil.example/x#y',
    '//evil.example/#y',
    'data:image/svg+xml;base64,AAAA',
    'x.svg#y',
    'javascript:alert(1)',
    ' #y',
    '#y z',
    '#',
    '',
    'JaVaScRiPt:alert(1)',
    '#y&#x3c;',
    '/x#y'
  ].map((href): [string, string] => ['href in <use>', svg(`<use href="${href}"/>`)]),
  ['xlink:href in <use>', svg('<use xlink:href="http://evil.example/#x"/>', xlink)],
  ['l:href in <use>', svg('<use l:href="x#y"/>', 'xmlns:l="http://www.w3.org/1999/xlink"')],
  ['href in <rect>', svg('<rect href="#x"/>')],
  ...[
    'url(https://evil.example/)',
    'url(//evil.example/#x)',
    'url("data:image/png;base64,AA")',
    'URL(http://evil.example)',
    'url(#a) url(http://x)',
    'u\\72l(http://x)',
    'url(http://x#a)',
    "url('#a)",
    'ur/**/l(http://x)',
    'url (http://evil.example)',
    'image-set(url(http://x))',
    'expression(alert(1))',
    'src(http://x)'
  ].map((fill): [string, string] => [
    'fill in <rect>',
    svg(`<rect fill="${fill.replaceAll('"', '&quot;')}"/>`)
  ]),
  ...[
    '@import url(x)',
    'fill:url(http://x)',
    'background:url(//x)',
    'x:expression(1)',
    'a{b:c}',
    'behavior:url(#default#time2) url(x)',
    'fill:u&#x72;l(http://x)',
    'fill:\\75rl(x)'
  ].map((style): [string, string] => ['style in <g>', svg(`<g style="${style}"/>`)]),
  ['<!DOCTYPE>', `<!DOCTYPE svg>${svg('')}`],
  ['<!DOCTYPE>', `<!DOCTYPE svg [<!ENTITY x "y">]>${svg('&x;')}`],
  ['<!DOCTYPE>', `<!DOCTYPE svg SYSTEM "http://evil.example/x.dtd">${svg('')}`],
  ['<!DOCTYPE>', `<!DOCTYPE svg [<!ENTITY % x SYSTEM "file:///etc/passwd">%x;]>${svg('')}`],
  ['<?xml-stylesheet?>', `<?xml-stylesheet href="http://evil.example/x.css"?>${svg('')}`],
  ['<?php?>', svg('<?php echo 1 ?>')],
  ['<![CDATA[', svg('<text><![CDATA[<script>alert(1)</script>]]></text>')],
  ['<?xml?>', `<?xml version="1.0" encoding="UTF-7"?>${svg('')}`],
  ['<?xml?>', `<?xml version="1.1"?>${svg('')}`],
  ['XML', ''],
  ['XML', 'no picture at all'],
  ['XML', svg('<g>')],
  ['XML', svg('<g></p>')],
  ['XML', svg('&nbsp;')],
  ['XML', svg('<rect x="1" x="2"/>')],
  ['XML', svg('<rect x=1 />')],
  ['XML', svg('<x:rect/>')],
  ['XML', `${svg('')}${svg('')}`],
  ['XML', svg('<rect fill="<script>"/>')],
  ['<svg>', '<svg><rect/></svg>'],
  ['<svg>', svg(svg(''))],
  ['<g>', `<g ${ns}/>`],
  ['<html>', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ['<div>', svg('<div xmlns="http://www.w3.org/1999/xhtml"/>')],
  ['<s:svg>', '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
  ['<h:script>', svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>')],
  ['<script>', svg('<script>alert(1)</script>')],
  ['<script>', svg('<g><g><script href="x"/></g></g>')],
  ['<use> of #b', svg('<g id="a"><rect/></g><g id="b"><use href="#a"/></g><use href="#b"/>')],
  ['<use> of #a', svg('<g id="a"><use href="#a"/></g>')],
  ['> 64 levels', svg('<g>'.repeat(64) + '</g>'.repeat(64))],
  ['> 2000 elements', svg('<g/>'.repeat(2000))],
  ['> 64 KB', svg(`<path d="${'0'.repeat(64 * 1024)}"/>`)]
]

const good = [
  svg(''),
  svg('<rect width="1" height="1"/>', 'viewBox="0 0 1 1"'),
  svg('<circle cx="5" cy="5" r="4" fill="#d24011"/>', 'width="10" height="10"'),
  svg('<path d="M0 0L1 1Z" stroke="currentColor" stroke-linecap="round"/>'),
  svg('<g transform="rotate(45)"><ellipse rx="1" ry="2"/></g>'),
  svg(
    '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs><rect fill="url(#a)"/>'
  ),
  svg(
    `<defs><radialGradient id="b" gradientUnits="userSpaceOnUse"/></defs><rect fill="url('#b')"/>`
  ),
  svg('<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)"><rect/></g>'),
  svg('<mask id="m"><rect/></mask><rect mask="url(#m)"/>'),
  svg('<symbol id="s" viewBox="0 0 1 1"><rect/></symbol><use href="#s"/>'),
  svg('<g id="g"><rect/></g><use xlink:href="#g" x="4"/>', xlink),
  svg('<text x="1" y="2" font-family="serif">Acme &amp; Söhne</text>'),
  svg('<title>Acme</title><desc>A &lt;mark&gt;</desc><rect/>'),
  svg(
    '<filter id="f"><feGaussianBlur in="SourceGraphic" stdDeviation="2"/></filter><rect filter="url(#f)"/>'
  ),
  svg('<pattern id="p" width="2" height="2"><rect/></pattern><rect fill="url(#p) red"/>'),
  svg('<rect style="fill:#fff;stroke:rgb(1, 2, 3)"/>'),
  svg('<polygon points="0,0 1,1 2,0"/><polyline points="0,0 1,1"/><line x1="0" x2="1"/>'),
  `<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n${svg('<rect/>')}\n`,
  svg('<g>'.repeat(63) + '</g>'.repeat(63)),
  svg('<g/>'.repeat(1999)),
  demoTheme.logo,
  demoTheme.favicon,
  localhostTheme.logo,
  localhostTheme.favicon
]

describe('a picture', () => {
  test(`is refused and told what it holds: ${hostile.length} hostile ones`, () => {
    expect(hostile.length).toBeGreaterThanOrEqual(100)
    for (const [what, text] of hostile) {
      const refusal = refusalOf(text)
      expect
        .soft(refusal?.fields?.['logo'], text.slice(0, 120))
        .toEqual({ rule: 'svg', limit: what })
      expect(refusal?.status).toBe(422)
    }
  })

  test(`is kept in canonical form: ${good.length} good ones`, () => {
    expect(good.length).toBeGreaterThanOrEqual(20)
    for (const text of good) {
      const canonical = canonicalSvg(text, 'logo')
      expect(canonical).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
      expect(canonical).not.toContain('<!--')
      expect(canonicalSvg(canonical, 'logo')).toBe(canonical)
    }
    expect(canonicalSvg(`<svg ${ns} viewBox='0 0 1 1'><path d='M0 0'></path></svg>`, 'logo')).toBe(
      `<svg ${ns} viewBox="0 0 1 1"><path d="M0 0"/></svg>`
    )
  })

  test('names its field of the theme', () => {
    expect(canonicalTheme(demoTheme).logo).toBe(canonicalSvg(demoTheme.logo, 'logo'))
    const broken = () => canonicalTheme({ ...demoTheme, favicon: svg('<script/>') })
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
        const canonical = refusalOf(text) ? undefined : canonicalSvg(text, 'logo')
        if (canonical === undefined) return
        expect(canonicalSvg(canonical, 'logo')).toBe(canonical)
        const { names, values } = partsOf(canonical)
        expect(names.filter(name => /^(on|script$|a$|xmlns:)/i.test(name))).toEqual([])
        expect(values.filter(value => /url\s*\(\s*['"]?[^#'"]/i.test(value))).toEqual([])
        expect(canonical).not.toMatch(/<!|<\?/)
      }),
      { numRuns: times(10_000, 1_000_000) }
    )
  })
})

function refusalOf(text: string): AppError | undefined {
  try {
    canonicalSvg(text, 'logo')
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'svg_refused') return error
    throw error
  }
}

/** Names of all elements and attributes, and what the attributes hold. */
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
