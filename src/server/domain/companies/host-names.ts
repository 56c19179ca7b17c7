import { getDomain, parse } from 'tldts'
import { AppError } from '../../../contract/kit/errors.ts'
import { isDomainName, isWildcardDomain } from '../../../core/input/domain-name.ts'
import type { Deps } from '../deps.ts'

const wildcard = '*.'

/** Browsers resolve such names to their own machine. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/**
 * Throws `host_not_allowed`. A company may claim names and wildcards below a known top-level
 * domain, and on a developer's machine names such as `acme.localhost`.
 */
export function requireClaimableHost(host: string, isDeveloper: boolean): void {
  const base = host.startsWith(wildcard) ? host.slice(wildcard.length) : host
  if (base.startsWith('api.')) throw refused('Names that begin with api. belong to the API')
  if (isLocalhost(base)) {
    // `*.localhost` would take the names of all other companies of this machine
    if (isDeveloper && base === host && base !== 'localhost') return
    throw refused('Only a developer’s machine has hosts below localhost')
  }
  const isAllowed = base === host ? isDomainName : isWildcardDomain
  if (!isAllowed(host, isTopLevel)) throw refused('This is no domain name')
  // private suffixes, such as github.io, are registries of their own
  const { publicSuffix } = parse(base, { allowPrivateDomains: true })
  if (base === publicSuffix) throw refused('This name belongs to a whole registry')
}

/** `'docs.acme.fr'` → `'acme.fr'` */
export function dnsZoneOf(host: string): string {
  const base = host.startsWith(wildcard) ? host.slice(wildcard.length) : host
  return getDomain(base, { allowPrivateDomains: true }) ?? base
}

export function createProofToken({ random }: Pick<Deps, 'random'>): string {
  return Buffer.from(random(20)).toString('hex')
}

function isTopLevel(label: string): boolean {
  const { isIcann, publicSuffix } = parse(`example.${label}`)
  return isIcann === true && publicSuffix !== null
}

function refused(detail: string): AppError {
  return new AppError('host_not_allowed', detail)
}
