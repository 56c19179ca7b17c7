import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../contract/kit/errors.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { findLostRights } from './authentication.ts'
import type { AuthenticatedCaller } from './sessions.ts'

// enough for a click and its redirects; the download itself may last longer
const linkSeconds = 60

interface Linked {
  company_id: CompanyId
  user_id: string
  session_id: string
  id: string
  expires: Date
}

/** Takes the place of the person's access token, because a URL must not contain that token. */
export function createDownloadLinkToken(
  deps: Pick<Deps, 'keys' | 'clock'>,
  { person, id }: { person: AuthenticatedCaller; id: string }
): { link: string; expires: Date } {
  const expires = new Date((Math.floor(deps.clock().getTime() / 1000) + linkSeconds) * 1000)
  const { company_id, id: user_id, session_id } = person
  const linked = { company_id, user_id, session_id, id, expires }
  const bytes = Buffer.concat([head(linked), macOf(deps, linked)])
  return { link: bytes.toString('base64url'), expires }
}

/** Throws `link_invalid` also if the person is no longer signed in. */
export async function authenticateDownloadLink(
  deps: Pick<Deps, 'db' | 'keys' | 'clock'>,
  { tenant, id, link }: { tenant: Tenant; id: string; link: string }
): Promise<AuthenticatedCaller> {
  const bytes = Buffer.from(link, 'base64url')
  if (bytes.length !== headBytes + macBytes || bytes.toString('base64url') !== link) throw invalid()
  const { company_id } = tenant
  const linked = {
    company_id,
    user_id: uuidOf(bytes.subarray(0, 16)),
    session_id: uuidOf(bytes.subarray(16, 32)),
    id,
    expires: new Date(bytes.readUInt32BE(32) * 1000)
  }
  if (!timingSafeEqual(macOf(deps, linked), bytes.subarray(headBytes))) throw invalid()
  const person: AuthenticatedCaller = {
    id: linked.user_id,
    session_id: linked.session_id,
    company_id,
    pending: false,
    permissions: [],
    outdated: false,
    token_expires: linked.expires,
    session_expires: linked.expires,
    confirmed: false,
    key: undefined
  }
  if (linked.expires <= deps.clock()) throw invalid()
  const lost = await findLostRights(deps, company_id, [{ person, permissions: [] }])
  if (lost.size > 0) throw invalid()
  return person
}

const headBytes = 36
const macBytes = 32

function head({ user_id, session_id, expires }: Linked): Buffer {
  const seconds = Buffer.alloc(4)
  seconds.writeUInt32BE(expires.getTime() / 1000)
  return Buffer.concat([bytesOf(user_id), bytesOf(session_id), seconds])
}

function macOf(deps: Pick<Deps, 'keys'>, linked: Linked): Buffer {
  const { company_id, user_id, session_id, id, expires } = linked
  const fields = [company_id, id, user_id, session_id, 'attachment', expires.getTime() / 1000]
  return deps.keys.mac('link', `vidimus/content/v1|${fields.join('|')}`)
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function invalid(): AppError {
  return new AppError('link_invalid', 'The link is over, or not for this deposit')
}
