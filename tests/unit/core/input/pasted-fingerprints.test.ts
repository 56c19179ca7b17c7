import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findFingerprints } from '../../../../src/core/input/pasted-fingerprints.ts'
import '../../../helpers/soak.ts'

const digest = createHash('sha256').update('vidimus').digest()
const hex = digest.toString('hex')
const base64 = digest.toString('base64')
const pairs = hex.match(/../g) ?? []
const fours = hex.match(/.{4}/g) ?? []
const groups = fours.join(' ')
const other = (algorithm: string) => createHash(algorithm).update('vidimus').digest('hex')
const [md5, sha1, sha512] = [other('md5'), other('sha1'), other('sha512')]

test.for([
  ['hex', hex],
  ['upper case', hex.toUpperCase()],
  ['a prefix', `sha256:${hex}`],
  ['an upper-case prefix and a space', `SHA256: ${hex}`],
  ['a hyphen in the prefix', `sha-256:${hex}`],
  ['0x before it', `0x${hex}`],
  ['groups of four', groups],
  ['groups of four with hyphens', fours.join('-')],
  ['groups of eight', hex.match(/.{8}/g)?.join(' ') ?? ''],
  ['groups of four after a label', `Fingerprint (SHA-256): ${groups}`],
  ['groups over lines, with a prefix', `sha256:\n${fours.join('\n')}\n`],
  ['groups over two lines', `${fours.slice(0, 8).join(' ')}\r\n${fours.slice(8).join(' ')}`],
  ['groups with joiners', fours.join('\u200b')],
  ['groups with no-break spaces', fours.join('\u00a0')],
  ['pairs with blanks', pairs.join(' ')],
  ['pairs with colons', pairs.join(':').toUpperCase()],
  ['a certificate’s fingerprint', `SHA256 Fingerprint=${pairs.join(':').toUpperCase()}`],
  [
    'pairs with colons over two lines',
    `${pairs.slice(0, 16).join(':')}:\n    ${pairs.slice(16).join(':')}`
  ],
  ['an array of bytes', pairs.map(pair => `0x${pair}`).join(', ')],
  ['escaped bytes', `b'${pairs.map(pair => `\\x${pair}`).join('')}'`],
  ['base64', base64],
  ['base64 without padding', base64.replace('=', '')],
  ['base64url', digest.toString('base64url')],
  ['base64url with padding', `${digest.toString('base64url')}=`],
  ['the integrity form', `sha256-${base64}`],
  ['an integrity attribute', `<script integrity="sha256-${base64}">`],
  ['a header', `Repr-Digest: sha-256=:${base64}:`],
  ['an older header', `Digest: SHA-256=${base64}`],
  ['JSON', `{"name":"a.pdf","sha256":"${hex}"}`],
  ['a link', `https://example.org/verify?sha256=${hex}&from=mail`],
  ['an image reference', `registry@sha256:${hex}`],
  ['a quoted mail', `> ${hex}`],
  ['a line that a mail program broke', `${hex.slice(0, 50)}\n${hex.slice(50)}`],
  ['certutil', `SHA256 hash of a.pdf:\r\n${hex}\r\nCertUtil: -hashfile command completed.\r\n`],
  ['certutil in French', `Hachage SHA256 de a.pdf :\r\n${hex}\r\nCertUtil: -hashfile terminé.`],
  ['an older certutil', `SHA256 hash of file a.pdf:\r\n${pairs.join(' ')}\r\nCertUtil: done.\r\n`],
  [
    'Get-FileHash as a list',
    `\r\nAlgorithm : SHA256\r\nHash      : ${hex.toUpperCase()}\r\nPath      : C:\\a.pdf\r\n`
  ],
  [
    'Get-FileHash in a narrow window',
    `Algorithm : SHA256\r\nHash      : ${hex.slice(0, 30)}\r\n            ${hex.slice(30)}\r\n`
  ]
] as const)('finds the fingerprint in %s', ([, text]) => {
  expect(findFingerprints(text).found).toEqual([{ sha256: hex, name: undefined }])
})

test.for([
  ['sha256sum', `${hex}  a.pdf`, 'a.pdf'],
  ['sha256sum in binary mode', `${hex.toUpperCase()} *a b.pdf`, 'a b.pdf'],
  ['sha256sum below a comment', `# made on Friday\n${hex}  a.pdf\n`, 'a.pdf'],
  ['shasum with tabs', `  ${hex}\ta.pdf`, 'a.pdf'],
  ['an escaped name', `\\${hex}  a\\nb\\\\c.pdf`, 'a\nb\\c.pdf'],
  ['a backslash that is not escaped', `${hex}  C:\\new.pdf`, 'C:\\new.pdf'],
  ['BSD', `SHA256 (a (1).pdf) = ${hex}`, 'a (1).pdf'],
  ['an escaped name in the form of BSD', `\\SHA256 (a\\nb) = ${hex}`, 'a\nb'],
  ['OpenSSL', `SHA2-256(a.pdf)= ${hex}`, 'a.pdf'],
  ['a name that is a fingerprint', `${hex}  ${hex}`, hex],
  [
    'Get-FileHash as a table',
    `Algorithm  Hash  Path\r\n---------  ----  ----\r\nSHA256     ${hex}  C:\\docs\\a.pdf\r\n`,
    'C:\\docs\\a.pdf'
  ],
  ['Get-FileHash as CSV', `"SHA256","${hex}","C:\\docs\\a.pdf"`, 'C:\\docs\\a.pdf'],
  ['a spreadsheet', `a.pdf\t${hex}`, 'a.pdf'],
  ['a table in Markdown', `| a.pdf | \`${hex}\` |`, 'a.pdf']
] as const)('reads the name in what %s prints', ([, text, name]) => {
  expect(findFingerprints(text).found).toEqual([{ sha256: hex, name }])
})

test.for([
  ['MD5', md5, 'MD5', 32],
  ['MD5 in pairs', (md5.match(/../g) ?? []).join(':'), 'MD5', 32],
  ['SHA-1', sha1, 'SHA-1', 40],
  ['SHA-512', sha512, 'SHA-512', 128],
  ['a list of MD5', `${md5}  a.pdf`, 'MD5', 32],
  ['another algorithm of the same length', `SHA3-256 (a.pdf) = ${hex}`, 'SHA3-256', 64],
  ['a digit less', hex.slice(1), undefined, 63],
  ['a digit more', `${hex}0`, undefined, 65]
] as const)('names %s', ([, text, algorithm, digits]) => {
  expect(findFingerprints(text)).toEqual({
    found: [],
    others: [{ line: 1, algorithm, digits }],
    skipped: []
  })
})

test('does not take two MD5 for one SHA-256', () => {
  expect(findFingerprints(`${md5}\n${md5}`)).toMatchObject({
    found: [],
    others: [{ line: 1 }, { line: 2 }]
  })
})

test.for([
  ['nothing', ''],
  ['a blank line', '\n'],
  ['a letter beyond f', `g${hex.slice(1)}`],
  ['a file name', 'contract.pdf'],
  ['an id', '018f9c9e-1c2d-7abc-8def-0123456789ab'],
  ['a sentence', 'Please check this document']
] as const)('finds no digest in %s', ([, text]) => {
  expect(findFingerprints(text)).toMatchObject({ found: [], others: [] })
})

test('reads every digest in every spelling', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), bytes => {
      const wanted = Buffer.from(bytes).toString('hex')
      const inPairs = wanted.replace(/..(?=.)/g, '$&:')
      const spellings = (['hex', 'base64', 'base64url'] as const).map(each =>
        Buffer.from(bytes).toString(each)
      )
      for (const spelling of [...spellings, inPairs, `${wanted.toUpperCase()}  a.pdf`]) {
        expect(findFingerprints(spelling).found.map(({ sha256 }) => sha256)).toEqual([wanted])
      }
    })
  )
})

test('verifies the other lines where some have no fingerprint, and names these', () => {
  const list = `${hex}  a\r\n\r\n${hex} *b\r\nno hash\r\n${md5}  c\r\n${hex}\r\nSHA256 (d) = ${hex}`
  const { found, others, skipped } = findFingerprints(list)
  expect(found.map(({ name }) => name)).toEqual(['a', 'b', undefined, 'd'])
  expect(others).toEqual([{ line: 5, algorithm: 'MD5', digits: 32 }])
  expect(skipped).toEqual([4])
})

test('finds several in one line', () => {
  expect(findFingerprints(`${hex}, ${hex}; ${hex}`).found).toHaveLength(3)
})

test('keeps two fingerprints in pairs apart', () => {
  expect(findFingerprints(`${pairs.join(':')}\n${pairs.join(':')}`).found).toHaveLength(2)
})
