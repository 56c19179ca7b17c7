import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { byteOrderMark, csvRecord } from '../../core/csv/cells.ts'
import { browserEnvironment } from '../environment.ts'
import { createCallRetrier } from '../retries.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'
import { type MemberFilter, maxPeoplePerCall } from './member-list.ts'

/** `filter.import` selects the people of an import. The first call has no `cursor`. */
export type LinkRecipients =
  | { ids: readonly string[] }
  | { filter: MemberFilter & { import?: string }; cursor?: string }

export interface InvitationLinkFile {
  content: Blob
  count: number
  until: string
  // a call failed; `rest` are the people for whom no link was created
  stopped?: { error: AppError; rest: LinkRecipients }
}

type Input = CallInput<'createInvitationLinks'>

const columns = ['username', 'email', 'link', 'valid_until'] as const

/** If a call fails, returns the links created before, or throws the error if there are none. */
export async function createInvitationLinkFile(
  people: LinkRecipients,
  onProgress: (count: number) => void
): Promise<InvitationLinkFile> {
  // the page, whose address names the company, may be left meanwhile
  const company = companyIdOfPage()
  const retries = createCallRetrier(browserEnvironment())
  const lines: string[] = []
  let until = ''
  const create = async (input: Input): Promise<string | null> => {
    const made = await retries.run(() => callAdminApi('createInvitationLinks', input, { company }))
    until ||= made.until
    for (const { username, email, link } of made.links) {
      lines.push(csvRecord([username, email, link, made.until]))
    }
    onProgress(lines.length)
    return made.next
  }
  let rest: LinkRecipients | undefined = people
  let stopped: InvitationLinkFile['stopped']
  while (rest && !stopped) {
    const asked: LinkRecipients = rest
    try {
      rest = await createNext(asked, create)
    } catch (error) {
      if (lines.length === 0) throw error
      stopped = { error: asAppError(error, 'Creating the links failed'), rest: asked }
    }
  }
  const content = new Blob([byteOrderMark, csvRecord(columns), ...lines], {
    type: 'text/csv;charset=utf-8'
  })
  return { content, count: lines.length, until, ...(stopped && { stopped }) }
}

// returns the people for whom further calls are needed
async function createNext(
  people: LinkRecipients,
  create: (input: Input) => Promise<string | null>
): Promise<LinkRecipients | undefined> {
  if ('ids' in people) {
    await create({ ids: people.ids.slice(0, maxPeoplePerCall) })
    const ids = people.ids.slice(maxPeoplePerCall)
    return ids.length > 0 ? { ids } : undefined
  }
  // leaves out `count`, which the selection of a list also has, because the API refuses it
  const { filter, cursor } = people
  const next = await create({ filter, ...(cursor === undefined ? {} : { cursor }) })
  return next === null ? undefined : { filter, cursor: next }
}
