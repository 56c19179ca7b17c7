import { Resolver } from 'node:dns/promises'
import type { DnsAnswer, DnsLookup } from '../domain/deps.ts'

const timeoutMs = 2000
const tries = 2

/** `servers` have `:port` unless it is 53. If there are none, those of the operating system. */
export function createDnsLookup(servers: string[]): DnsLookup {
  // a resolver of its own for each question, because one that is new remembers no answers
  const newResolver = () => {
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    if (servers.length > 0) resolver.setServers(servers)
    return resolver
  }
  return {
    async readTxt(name) {
      try {
        const records = await newResolver().resolveTxt(name)
        // an alias that leads to a name without TXT records
        if (records.length === 0) return { outcome: 'no_record', values: [] }
        // a long value is sent in several strings
        return { outcome: 'found', values: records.map(strings => strings.join('')) }
      } catch (error) {
        return { outcome: outcomeOf(Object(error).code), values: [] }
      }
    },
    async readAddresses(name) {
      const resolver = newResolver()
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      const found = answers.flatMap(each => (each.status === 'fulfilled' ? each.value : []))
      const isCertain = answers.every(
        each =>
          each.status === 'fulfilled' ||
          ['no_name', 'no_record'].includes(outcomeOf(Object(each.reason).code))
      )
      return found.length > 0 || isCertain ? found : undefined
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
