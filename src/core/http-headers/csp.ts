/**
 * The content security policy of API responses. A browser that opens a response as a page runs no
 * scripts in it and loads nothing, and no page can embed it in a frame.
 */
export const apiCsp = "default-src 'none'; frame-ancestors 'none'; sandbox"

/**
 * Value of the header `Strict-Transport-Security`: two years. Sent over https only. Omits
 * `includeSubDomains`, because other subdomains belong to the customer.
 */
export const hstsHeader = 'max-age=63072000'

/**
 * The content security policy of worker files. Only workers may compile WebAssembly; pages may not.
 */
export const workerCsp =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

export type PageCspInput = {
  /**
   * The content security policy that Astro generates for a page. It contains the hashes of scripts
   * and styles.
   */
  astroPolicy: string
  /** Hash of `boot.js`: `sha256-…`, with or without quotes. */
  bootHash: string
  /** Hash of the style element with the company's colors: `sha256-…`, with or without quotes. */
  themeHash: string
  /** Origin of the API, such as `http://api.localhost:4321`. */
  api: string
}

/**
 * Returns the content security policy of the pages of a host. All pages have the same policy,
 * because Astro's ClientRouter keeps the policy of the first page during a visit.
 */
export function pageCsp({ astroPolicy, bootHash, themeHash, api }: PageCspInput): string {
  const boot = quoted(bootHash)
  const theme = quoted(themeHash)
  if (!/^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(api)) throw new Error(`csp: not an origin: ${api}`)
  const directives = [
    // Firefox applies `default-src` to prefetched pages; all other requests have their own
    // directive
    ["default-src 'self'"],
    ["script-src 'self'", ...new Set([...hashesOf(astroPolicy, 'script-src'), boot])],
    ["style-src 'self'", ...new Set([...hashesOf(astroPolicy, 'style-src'), theme])],
    ["img-src 'self' data: blob:"],
    ["font-src 'self'"],
    ["connect-src 'self'", api],
    ["worker-src 'self'"],
    ["manifest-src 'self'"],
    ["frame-src 'none'"],
    ["media-src 'none'"],
    ["object-src 'none'"],
    ["form-action 'self'"],
    ["base-uri 'none'"],
    ["frame-ancestors 'none'"],
    ["require-trusted-types-for 'script'"],
    ['trusted-types default'],
    ['report-to csp']
  ]
  return directives.map(directive => directive.join(' ')).join('; ')
}

/**
 * Returns the value of the header `Reporting-Endpoints`. It defines the endpoint `csp`, to which
 * browsers send the reports that the directive `report-to csp` asks for. `api` is the origin of the
 * API.
 */
export function reportingEndpointsHeader(api: string): string {
  return `csp="${api}/csp-report"`
}

const hashPattern =
  /^'sha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)'$/

function quoted(hash: string): string {
  const source = `'${hash.replace(/^'|'$/g, '')}'`
  if (!hashPattern.test(source)) throw new Error(`csp: not a hash: ${hash}`)
  return source
}

// Takes hashes only, so that a change in Astro cannot add 'unsafe-inline', hosts or nonces.
function hashesOf(policy: string, name: string): string[] {
  const directive = policy
    .split(';')
    .map(text => text.trim().split(/\s+/))
    .find(([first]) => first === name)
  if (!directive) throw new Error(`csp: the page's policy has no ${name}`)
  return directive.filter(source => hashPattern.test(source))
}
