import { useState } from 'react'
import type { AppError } from '../../contract/errors.ts'
import type { Group } from '../../contract/groups.ts'
import { pathOf } from '../../core/pages/page-table.ts'
import { localizedPath, type T } from '../../i18n/index.ts'
import { actingCompany } from '../../stores/admin-api.ts'
import { deleteGroup, reloadGroup } from '../../stores/groups.ts'
import { navigate } from '../../stores/navigation.ts'
import { useAction } from '../forms/use-action.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'

interface DeleteGroupProps {
  group: Group
}

/** Deletes a group, or says what still uses it. */
export function DeleteGroup({ group }: DeleteGroupProps) {
  const { locale, t } = useWords()
  const [isAsking, setAsking] = useState(false)
  const action = useAction({
    what: 'Deleting the group failed',
    async send() {
      await deleteGroup(group)
      const path = pathOf('groups', { company: actingCompany() })
      await navigate(localizedPath(locale, path), { replace: true })
    },
    handle(error) {
      // so that the page shows what has become of the group
      if (['changed_meanwhile', 'not_found'].includes(error.code))
        reloadGroup(group.id).catch(() => {})
      return false
    }
  })
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="delete-group">
      <div>
        <h2 id="delete-group" className="section-title">
          {t('groups.delete.title')}
        </h2>
        <p className="meta">{t('groups.delete.note')}</p>
      </div>
      {action.failure && (
        <ErrorNote error={action.failure}>
          {action.failure.uses && <p>{usesWords(action.failure, t)}</p>}
        </ErrorNote>
      )}
      <button
        type="button"
        className="btn btn-outline self-start"
        aria-disabled={action.isWorking}
        onClick={() => {
          if (!action.isWorking) setAsking(true)
        }}
      >
        {t('groups.delete.open')}
      </button>
      {isAsking && (
        <ConfirmDialog
          question={t('groups.delete.question', { group: group.name })}
          yes={t('groups.delete.yes')}
          no={t('groups.delete.no')}
          onYes={() => void action.start(undefined)}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}

/** `Still used by: 3 members, 12 deposits.` */
function usesWords({ uses = {} }: AppError, t: T): string {
  const kinds = ['users', 'deposits', 'requests'] as const
  const words = kinds
    .filter(kind => uses[kind])
    .map(kind => t(`groups.delete.uses.${kind}`, { count: uses[kind] ?? 0 }))
  return t('groups.delete.inUse', { uses: words.join(', ') })
}
