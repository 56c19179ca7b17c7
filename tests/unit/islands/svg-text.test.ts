import { expect, test } from 'vitest'
import { decodeSvg } from '../../../src/islands/domains/PictureField.tsx'

const utf16 = (text: string, isBigEndian: boolean) => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
  return new Uint8Array(isBigEndian ? bytes.swap16() : bytes)
}
const declared = (name: string) => `<?xml version="1.0" encoding="${name}"?><svg>é</svg>`

test.each([
  ['UTF-8', new TextEncoder().encode('<svg>é</svg>'), '<svg>é</svg>'],
  ['UTF-8 with a mark', new TextEncoder().encode('\uFEFF<svg/>'), '<svg/>'],
  [
    'Latin 1',
    new Uint8Array(Buffer.from(declared('iso-8859-1'), 'latin1')),
    declared('iso-8859-1')
  ],
  ['UTF-16', utf16(declared('UTF-16'), false), declared('UTF-16')],
  ['UTF-16, big end first', utf16(declared('UTF-16'), true), declared('UTF-16')],
  ['UTF-16 by declaration alone', new TextEncoder().encode(declared('utf-16')), declared('utf-16')],
  [
    'Latin 1 that claims UTF-8',
    new Uint8Array(Buffer.from(declared('utf-8'), 'latin1')),
    undefined
  ],
  ['an unknown encoding', new TextEncoder().encode(declared('x-none')), undefined]
])('an SVG in %s is read', (_name, bytes, text) => {
  expect(decodeSvg(bytes)).toBe(text)
})
