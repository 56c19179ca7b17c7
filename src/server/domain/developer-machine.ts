import { BlockList, isIP, isIPv6 } from 'node:net'
import type { LinkDelivery } from '../../contract/users.ts'
import type { InstallationSettings, Tenant } from './deps.ts'

interface RequestSource {
  // the other end of the connection, which no header can change; undefined within the process
  peer: string | undefined
  headers: Iterable<string>
}

/**
 * With the setting `dev`, every request. Otherwise the request comes from this machine without a
 * proxy's header, because a proxy here has a loopback address too, and the installation has no
 * public address and no domain of its own.
 */
export function isRequestFromDeveloperMachine(
  { dev, hasPublicUrl }: Pick<InstallationSettings, 'dev' | 'hasPublicUrl'>,
  { hasOwnDomain }: Pick<Tenant, 'hasOwnDomain'>,
  { peer, headers }: RequestSource
): boolean {
  if (dev) return true
  if (hasPublicUrl || hasOwnDomain) return false
  return isLoopback(peer) && ![...headers].some(isForwarding)
}

export function chooseMailLinkDelivery(
  { mailServer }: Pick<InstallationSettings, 'mailServer'>,
  isDeveloper: boolean
): LinkDelivery {
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
