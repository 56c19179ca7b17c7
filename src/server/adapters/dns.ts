import { Resolver } from 'node:dns/promises'
import type { DnsAnswer, DnsLookup } from '../domain/deps.ts'

const timeoutMs = 2000
const tries = 2

/**
 * Creates the lookup of TXT records. `servers` are the addresses of DNS servers, each with `:port`
 * unless the port is 53. If `servers` is empty, the servers of the operating system are asked.
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
