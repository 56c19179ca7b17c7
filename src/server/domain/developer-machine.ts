import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Delivery } from '../../contract/users.ts'
import type { Settings, Tenant } from './deps.ts'

/** What a request reveals about its origin. */
export interface RequestOrigin {
  /**
   * Address of the connection's other end, whatever the headers claim; absent for a call within the
   * process.
   */
  peer: string | undefined
  /** Names of the request's headers. */
  headers: Iterable<string>
}

/**
 * Returns whether a request comes from a browser on a developer's machine, where e-mails need no
 * confirmation and the demonstration's account works. A proxy also connects from loopback, so the
 * address alone proves nothing.
 */
export function isDeveloperMachine(
  { dev, hasPublicUrl }: Pick<Settings, 'dev' | 'hasPublicUrl'>,
  { hasOwnDomain }: Pick<Tenant, 'hasOwnDomain'>,
  { peer, headers }: RequestOrigin
): boolean {
  if (dev) return true
  if (hasPublicUrl || hasOwnDomain) return false
  return isLoopback(peer) && ![...headers].some(isForwarding)
}

/** Returns how the link of a mail reaches its reader. */
export function mailDelivery(
  { mailServer }: Pick<Settings, 'mailServer'>,
  isDeveloper: boolean
): Delivery {
  if (mailServer) return 'mail'
  return isDeveloper ? 'outbox' : 'administrator'
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(address = ''): boolean {
  return isIP(address) !== 0 && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function isForwarding(header: string): boolean {
  return /^(forwarded|via|x-real-ip|x-forwarded-.*)$/i.test(header)
}
