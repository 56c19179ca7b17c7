import { BlockList, isIP, isIPv6 } from 'node:net'
import type { LinkDelivery } from '../../contract/users.ts'
import type { InstallationSettings, Tenant } from './deps.ts'

/** The properties of an HTTP request that show whether it comes from the same machine. */
interface RequestSource {
  /**
   * Network address of the other end of the connection, which no header can change. Undefined for a
   * call from within the process.
   */
  peer: string | undefined
  /** Names of the headers of the HTTP request. */
  headers: Iterable<string>
}

/**
 * Returns whether an HTTP request comes from a developer's machine, where e-mails need no
 * confirmation and the demonstration's account works. The setting `dev` makes this true for every
 * request. Otherwise the request must come from this machine, and the installation must have no
 * public address and no domain of its own. A loopback address alone proves nothing, because a proxy
 * on this machine has one too. So a request with a header that proxies add is not accepted.
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

/**
 * Returns how links, such as the one that confirms an e-mail, reach people:
 * - `mail`: by mail, if a mail server is configured;
 * - `outbox`: as files in a folder, on a developer's machine without a mail server;
 * - `administrator`: through an administrator, in all other cases.
 */
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
