import { expect, test } from 'vitest'
import { apiCsp, pageCsp, workerCsp } from '../../../../src/core/http-headers/csp.ts'

const script = `'sha256-${'A'.repeat(43)}='`
const style = `'sha384-${'B'.repeat(64)}'`
const boot = `sha256-${'D'.repeat(43)}=`
const theme = `sha256-${'C'.repeat(43)}=`
const astroPolicy = `script-src 'self' ${script}; style-src 'self' ${style};`
const api = 'http://api.localhost:4321'

test('assembles the policy of a page from Astro’s hashes, the theme and the API', () => {
  expect(pageCsp({ astroPolicy, bootHash: boot, themeHash: theme, api })).toBe(
    [
      "default-src 'self'",
      `script-src 'self' ${script} '${boot}'`,
      `style-src 'self' ${style} '${theme}'`,
      "img-src 'self' data: blob:",
      "font-src 'self'",
      `connect-src 'self' ${api}`,
      "worker-src 'self'",
      "manifest-src 'self'",
      "frame-src 'none'",
      "media-src 'none'",
      "object-src 'none'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types default',
      'report-to csp'
    ].join('; ')
  )
})

test('takes the theme hash quoted too, and once', () => {
  const bare = pageCsp({ astroPolicy, bootHash: boot, themeHash: theme, api })
  expect(pageCsp({ astroPolicy, bootHash: boot, themeHash: `'${theme}'`, api })).toBe(bare)
  const repeated = `script-src 'self'; style-src 'self' '${theme}'`
  expect(
    pageCsp({ astroPolicy: repeated, bootHash: boot, themeHash: theme, api }).split(theme)
  ).toHaveLength(2)
})

test('lets nothing but hashes through', () => {
  const loose = `default-src *; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'nonce-x' https: ${script}; style-src 'unsafe-inline' *`
  const policy = pageCsp({ astroPolicy: loose, bootHash: boot, themeHash: theme, api })
  expect(policy).toContain(`script-src 'self' ${script} '${boot}';`)
  expect(policy).toContain(`style-src 'self' '${theme}';`)
  expect(policy).not.toMatch(/unsafe|nonce|\*|https:/)
})

test('does not mistake another directive for its own', () => {
  const astro = `script-src-elem ${style}; script-src 'self'; style-src-attr ${script}; style-src 'self'`
  const policy = pageCsp({ astroPolicy: astro, bootHash: boot, themeHash: theme, api })
  expect(policy).toContain(`script-src 'self' '${boot}';`)
  expect(policy).toContain(`style-src 'self' '${theme}';`)
})

test.each([
  { astroPolicy: '', bootHash: boot, themeHash: theme, api },
  { astroPolicy: "script-src 'self'", bootHash: boot, themeHash: theme, api },
  { astroPolicy, bootHash: boot, themeHash: '', api },
  { astroPolicy, bootHash: '', themeHash: theme, api },
  { astroPolicy, bootHash: `${boot} *`, themeHash: theme, api },
  { astroPolicy, bootHash: boot, themeHash: `${theme}; script-src *`, api },
  { astroPolicy, bootHash: boot, themeHash: 'sha256-AAAA', api },
  { astroPolicy, bootHash: boot, themeHash: theme, api: '' },
  { astroPolicy, bootHash: boot, themeHash: theme, api: 'https://api.acme.test/' },
  {
    astroPolicy,
    bootHash: boot,
    themeHash: theme,
    api: "https://api.acme.test; script-src 'unsafe-inline'"
  },
  { astroPolicy, bootHash: boot, themeHash: theme, api: 'https:' },
  { astroPolicy, bootHash: boot, themeHash: theme, api: '*' }
])('refuses parts that are not what they should be: %j', input => {
  expect(() => pageCsp(input)).toThrow('csp')
})

test('lets WebAssembly compile in workers only', () => {
  expect(workerCsp).toContain("'wasm-unsafe-eval'")
  expect(pageCsp({ astroPolicy, bootHash: boot, themeHash: theme, api })).not.toContain('wasm')
  expect(apiCsp).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
})
