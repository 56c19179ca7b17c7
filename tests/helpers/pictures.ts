import { demoTheme } from '../../src/server/domain/demo/demo-theme.ts'
import { productTheme } from '../../src/server/domain/installation/product-theme.ts'

export const svgNamespaceAttribute = 'xmlns="http://www.w3.org/2000/svg"'
export const xlinkNamespaceAttribute = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
export const svg = (inside: string, attributes = '') =>
  `<svg ${svgNamespaceAttribute} ${attributes}>${inside}</svg>`

/** Pictures that the server must refuse, each as `[description, file]`. */
export const hostilePictures: [string, string][] = [
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
    'requiredExtensions',
    'systemLanguage',
    'attributeName',
    'from',
    'to',
    'begin',
    'by',
    'is',
    'slot',
    'part',
    'nonce',
    'xml:base'
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
  [
    'xlink:href in <use>',
    svg('<use xlink:href="http://evil.example/#x"/>', xlinkNamespaceAttribute)
  ],
  ['l:href in <use>', svg('<use l:href="x#y"/>', 'xmlns:l="http://www.w3.org/1999/xlink"')],
  ['href in <rect>', svg('<rect href="#x"/>')],
  ['xlink:href in <use>', svg('<use href="#a" xlink:href="#b"/>', xlinkNamespaceAttribute)],
  ['href in <use>', svg('<use xlink:href="#a" href="#a"/>', xlinkNamespaceAttribute)],
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
  ['<!ENTITY>', `<!DOCTYPE svg [<!ENTITY x "y">]>${svg('&x;')}`],
  ['<!ENTITY>', `<!DOCTYPE svg [<!ENTITY % x SYSTEM "file:///etc/passwd">%x;]>${svg('')}`],
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
  ['<g>', `<g ${svgNamespaceAttribute}/>`],
  ['<html>', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ['<div>', svg('<div xmlns="http://www.w3.org/1999/xhtml"/>')],
  ['<h:script>', svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>')],
  ['<script>', svg('<script>alert(1)</script>')],
  ['<script>', svg('<g><g><script href="x"/></g></g>')],
  ['<script>', svg('<metadata><script>alert(1)</script></metadata>')],
  ['<h:script>', svg('<x xmlns="x:y"><h:script xmlns:h="http://www.w3.org/1999/xhtml"/></x>')],
  ['<h:metadata>', svg('<h:metadata xmlns:h="http://www.w3.org/1999/xhtml"/>')],
  ['<g> in <style>', svg('<style><g/></style>')],
  ...[
    ['@import url(x) in <style>', '@import url(x){a:b}'],
    ['<style>', '@import url(http://evil.example/x.css);'],
    ['@font-face in <style>', '@font-face{font-family:x;src:url(#x)}'],
    ['<style>', '.a{fill:url(http://evil.example/#a)}'],
    ['<style>', '.a{fill:\\75rl(x)}'],
    ['<style>', '.a{fill:red'],
    ['<style>', '.a{fill:"}'],
    ['a:hover in <style>', 'a:hover{fill:red}'],
    ['[a] in <style>', '[a]{fill:red}'],
    ['background in <style>', 'svg{background:red}'],
    ['transform in <style>', '.a{transform:scale(9)}'],
    ['animation in <style>', '.a{animation:x 1s}']
  ].map(([what, css]): [string, string] => [what ?? '', svg(`<style>${css}</style>`)]),
  ['type in <style>', svg('<style type="text/less">.a{fill:red}</style>')],
  ['filter in <g>', svg('<g filter="blur(900px)"/>')],
  ['clip-path in <g>', svg('<g clip-path="polygon(0 0)"/>')],
  ['style in <g>', svg('<g style="filter:drop-shadow(0 0 9px)"/>')],
  ...['filter', 'mask', 'clip-path', 'd', 'transform'].map((name): [string, string] => [
    `${name} in <g>`,
    svg(`<g ${name}=" Inherit"/>`)
  ]),
  ...['filter:inherit', 'mask:INHERIT !important', 'clip-path : inherit', 'd:inherit'].map(
    (style): [string, string] => ['style in <g>', svg(`<g style="${style}"/>`)]
  ),
  ['<style>', svg('<style>.a{filter:inherit}</style>')],
  ...['11', '1e9', 'x'].map((count): [string, string] => [
    'numOctaves in <feTurbulence>',
    svg(`<filter id="f"><feTurbulence numOctaves="${count}"/></filter>`)
  ]),
  ['> 64 levels', svg('<g>'.repeat(64) + '</g>'.repeat(64))],
  ['> 2000 elements', svg('<g/>'.repeat(2000))],
  ['> 64 KB', svg(`<path d="${'0'.repeat(64 * 1024)}"/>`)]
]

export const goodPictures = [
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
  svg('<g id="g"><rect/></g><use xlink:href="#g" x="4"/>', xlinkNamespaceAttribute),
  svg('<text x="1" y="2" font-family="serif">Acme &amp; Söhne</text>'),
  svg('<title>Acme</title><desc>A &lt;mark&gt;</desc><rect/>'),
  svg(
    '<filter id="f"><feGaussianBlur in="SourceGraphic" stdDeviation="2"/></filter><rect filter="url(#f)"/>'
  ),
  svg('<pattern id="p" width="2" height="2"><rect/></pattern><rect fill="url(#p) red"/>'),
  svg('<rect style="fill:#fff;stroke:rgb(1, 2, 3)"/>'),
  svg('<polygon points="0,0 1,1 2,0"/><polyline points="0,0 1,1"/><line x1="0" x2="1"/>'),
  `<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n${svg('<rect/>')}\n`,
  svg(
    '<filter id="f"><feTurbulence baseFrequency=".7" numOctaves="3"/><feMerge/></filter><rect filter="url(#f)"/>'
  ),
  svg('<g>'.repeat(63) + '</g>'.repeat(63)),
  svg('<g/>'.repeat(1999)),
  demoTheme.logo,
  demoTheme.favicon,
  productTheme.logo,
  productTheme.favicon
]

/**
 * Pictures that would set `window.pwned` or request another host if a browser opened them as
 * documents.
 */
export const scriptedPictures = [
  svg('<script>window.pwned=1</script>'),
  svg('<rect width="1" height="1"/>', 'onload="window.pwned=1"'),
  svg('<animate attributeName="x" dur="1s" onbegin="window.pwned=1"/>'),
  svg(
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script>parent.pwned=1&lt;/script>"/></foreignObject>'
  ),
  svg('<image href="http://evil.example/x.png" onerror="window.pwned=1"/>'),
  svg('<style>@import url(http://evil.example/x.css);</style>'),
  svg('<use href="http://evil.example/x.svg#y"/>'),
  `<?xml-stylesheet href="http://evil.example/x.css"?>${svg('')}`
]
