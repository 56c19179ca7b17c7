import { Resolver } from 'node:dns/promises'
import type { DnsAnswer, DnsLookup } from '../domain/deps.ts'

const timeoutMs = 2000
const tries = 2

/**
 * Creates the adapter that queries TXT records. `servers` are the addresses of the DNS servers to
 * ask, each with `:port` unless the port is 53. If `servers` is empty, it asks the DNS servers of
 * the operating system.
 */
export function createDnsLookup(servers: string[]): DnsLookup {
  return {
    async readTxt(name) {
      // a resolver of its own for each question, because one that is new remembers no answers
      const resolver = new Resolver({ timeout: timeoutMs, tries })
      if (servers.length > 0) resolver.setServers(servers)
      try {
        const records = await resolver.resolveTxt(name)
        // a long value is sent in several strings
        return { outcome: 'found', values: records.map(strings => strings.join('')) }
      } catch (error) {
        return { outcome: outcomeOf(Object(error).code), values: [] }
      }
    }
  }
}

function outcomeOf(code: unknown): Exclude<DnsAnswer['outcome'], 'found'> {
  switch (code) {
    case 'ENOTFOUND':
      return 'no_name'
    case 'ENODATA':
      return 'no_record'
    case 'ETIMEOUT':
    case 'ECONNREFUSED':
      return 'no_answer'
    default:
      return 'server_failed'
  }
}
