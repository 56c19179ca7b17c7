/** Answers of the API are never documents. */
export const apiPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Two years, over https only. Pages and API each send it; other names below a host are the customer's own. */
export const hsts = 'max-age=63072000'

/** Sent with our worker files: only there may WebAssembly compile. */
export const workerPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

export type PagePolicyInput = {
  /** The header that Astro put on the page: the source of its script and style hashes. */
  astroPolicy: string
  /** Hashes of the texts of `boot.js` and of the theme's style element: `sha256-…`, quoted or not. */
  bootHash: string
  themeHash: string
  /** Origin of the API: `http://api.localhost:4321` */
  api: string
}

/** The policy of every page of a host; ClientRouter keeps the first page's for the whole visit. */
export function pagePolicy({ astroPolicy, bootHash, themeHash, api }: PagePolicyInput): string {
  const boot = quoted(bootHash)
  const theme = quoted(themeHash)
  if (!/^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(api)) throw new Error(`csp: not an origin: ${api}`)
  const directives = [
    // what Firefox asks of a page that is fetched ahead; everything else has a line of its own
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

/** `Reporting-Endpoints` of a page: where `report-to csp` leads. */
export function reportingEndpoints(api: string): string {
  return `csp="${api}/csp-report"`
}

const hashPattern =
  /^'sha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)'$/

function quoted(hash: string): string {
  const source = `'${hash.replace(/^'|'$/g, '')}'`
  if (!hashPattern.test(source)) throw new Error(`csp: not a hash: ${hash}`)
  return source
}

// Only hashes pass: 'unsafe-inline', foreign hosts and nonces cannot slip in with a change of Astro's.
function hashesOf(policy: string, name: string): string[] {
  const directive = policy
    .split(';')
    .map(text => text.trim().split(/\s+/))
    .find(([first]) => first === name)
  if (!directive) throw new Error(`csp: the page's policy has no ${name}`)
  return directive.filter(source => hashPattern.test(source))
}
