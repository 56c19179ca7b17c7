import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Delivery } from '../../contract/users.ts'
import type { Settings, Tenant } from './deps.ts'

/** The properties of a request that show where it comes from. */
export interface RequestOrigin {
  /**
   * Network address of the other end of the connection, independent of all headers. Undefined for a
   * call from within the process.
   */
  peer: string | undefined
  /** Names of the request's headers. */
  headers: Iterable<string>
}

/**
 * Returns whether a browser on a developer's machine sent the request. There e-mails need no
 * confirmation, and the demonstration's account works. The address alone proves nothing, because a
 * proxy also connects from the loopback address. So the headers are checked as well.
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

/** Returns how a mailed link reaches the person who requested it. */
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
