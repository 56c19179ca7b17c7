export interface CspViolation {
  directive: string
  // without query and fragment
  page: string
  blocked: string
  source: string
  line: number | undefined
}

const maxReports = 20
const maxLength = 200
const maxAddressLength = 8192

/**
 * Understands `report-to` and `report-uri`, and drops private data such as the query of an address.
 * Returns undefined if the body contains no report.
 */
export function parseCspViolations(body: unknown): CspViolation[] | undefined {
  const found = Array.isArray(body) ? body.slice(0, maxReports).flatMap(ofReports) : ofLegacy(body)
  return found.length > 0 ? found : undefined
}

function ofReports(report: unknown): CspViolation[] {
  const { type, body } = members(report)
  if (type !== 'csp-violation') return []
  const said = members(body)
  const { effectiveDirective, documentURL, blockedURL, sourceFile, lineNumber } = said
  return read(effectiveDirective, documentURL, blockedURL, sourceFile, lineNumber)
}

function ofLegacy(report: unknown): CspViolation[] {
  const said = members(members(report)['csp-report'])
  const directive = said['effective-directive'] ?? said['violated-directive']
  const { 'document-uri': page, 'blocked-uri': blocked, 'source-file': source } = said
  return read(directive, page, blocked, source, said['line-number'])
}

function read(
  directive: unknown,
  page: unknown,
  blocked: unknown,
  source: unknown,
  line: unknown
): CspViolation[] {
  if (typeof directive !== 'string' || !/^[a-z-]{1,60}(?: |$)/.test(directive)) return []
  return [
    {
      directive: directive.split(' ')[0] ?? '',
      page: hostAndPath(page),
      blocked: hostAndPath(blocked),
      source: hostAndPath(source),
      line: Number.isSafeInteger(line) ? Number(line) : undefined
    }
  ]
}

// `'https://docs.acme.fr/fr/verify?a=1#b'` → `'docs.acme.fr/fr/verify'`, `'data:text/html,a'` →
// `'data:'`
function hostAndPath(text: unknown): string {
  if (typeof text !== 'string') return ''
  if (/^[a-z-]{1,40}$/.test(text)) return text
  // the parser takes seconds to normalize a long name
  const url = text.length > maxAddressLength ? null : URL.parse(text)
  if (!url) return ''
  // the path of a data: or blob: address is its content
  const place = /^https?:$/.test(url.protocol) ? url.host + url.pathname : url.protocol
  return place.slice(0, maxLength)
}

function members(value: unknown): Record<string, unknown> {
  // as: any object has unknown members
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
