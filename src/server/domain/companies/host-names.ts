import { getDomain, parse } from 'tldts'
import { AppError } from '../../../contract/kit/errors.ts'
import { isDomainName, isWildcardDomain } from '../../../core/input/domain-name.ts'
import type { Deps } from '../deps.ts'

const wildcard = '*.'

/**
 * Returns whether a host name is `localhost` or ends with `.localhost`. Browsers resolve such names
 * to their own machine.
 */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/**
 * Throws `host_not_allowed` if a host name is not one that a company may claim. A company may claim
 * names below a known top-level domain, such as `docs.acme.fr`, and wildcards such as `*.acme.fr`.
 * On a developer's machine, it may also claim names such as `acme.localhost`. It may not claim
 * names that begin with `api.`, because they serve the API of another host, or names of a whole
 * registry, such as `co.uk` and `*.co.uk`.
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

/**
 * Returns the DNS zone to which the records of a host usually belong: `'docs.acme.fr'` →
 * `'acme.fr'`
 */
export function dnsZoneOf(host: string): string {
  const base = host.startsWith(wildcard) ? host.slice(wildcard.length) : host
  return getDomain(base, { allowPrivateDomains: true }) ?? base
}

/**
 * Returns a new random value for the DNS record with which a company proves that it owns a host.
 */
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
