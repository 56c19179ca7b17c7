import type { Refusals, Rows, Stage } from '../helpers/cases.ts'
import { makePerson } from '../helpers/mailed.ts'

export const rows: Rows = {
  listUsers: {
    input: () => ({ limit: 10, q: 'example', sort: '-email' }),
    ids: { id: 'company', cursor: 'member', group: 'group' },
    shared: true
  },
  resendInvitation: { ids: { id: 'member' }, shared: true },
  disableUser: { input: () => ({ reason: 'left' }), ids: { id: 'member' }, shared: true },
  enableUser: { ids: { id: 'member' }, shared: true }
}

/** How each code that a call lists comes about. */
export function refusals({ app, ada, ask }: Stage): Refusals {
  return {
    'resendInvitation already_active': async () =>
      ask('resendInvitation', { id: (await makePerson(app)).id }),
    'disableUser not_oneself': () => ask('disableUser', { id: ada.id, reason: 'left' })
  }
}
