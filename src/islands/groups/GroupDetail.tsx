import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import { pathOf } from '../../core/pages/page-table.ts'
import { localizedPath } from '../../i18n/index.ts'
import { $group, openGroup } from '../../stores/groups.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { PasswordQuestion } from '../forms/PasswordQuestion.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWaiting } from '../kit/time.ts'
import { usePageName } from '../kit/use-page-name.ts'
import { useWords, withWords } from '../kit/use-words.ts'
import { DeleteGroup } from './DeleteGroup.tsx'
import { GroupCategories } from './GroupCategories.tsx'
import { GroupMembers } from './GroupMembers.tsx'
import { GroupSettings } from './GroupSettings.tsx'

/** Shows a group and changes it in place: its settings, limits, members and categories. */
export const GroupDetail = withWords(function GroupDetail() {
  const { locale, t } = useWords()
  const state = useStore($group, { ssr: 'initial' })
  const route = useStore($route)
  const session = useStore($session, { ssr: 'initial' })
  const id = route?.route === 'group' ? route.params['group'] : undefined
  const company = route?.route === 'group' ? (route.params['company'] ?? '') : ''
  const isIn = session.status === 'in'
  const waiting = useWaiting(state.status === 'loading')
  usePageName(state.status === 'ready' ? state.group.name : undefined)

  useEffect(() => {
    if (id !== undefined && isIn) void openGroup(id)
  }, [id, isIn])

  switch (state.status) {
    case 'loading':
      return (
        <section className="sheet" data-state="loading">
          <p role="status" className="text-ink-soft">
            {waiting === 'text' || waiting === 'slow' ? t('common.loading') : ''}
          </p>
        </section>
      )
    case 'missing':
      return (
        <section className="sheet flex flex-col items-start gap-4" data-state="missing">
          <p className="verdict" role="status">
            {t('groups.missing')}
          </p>
          <p className="text-ink-soft">{t('groups.missingText')}</p>
          <a
            className="btn btn-primary"
            href={localizedPath(locale, pathOf('groups', { company }))}
          >
            {t('groups.toList')}
          </a>
        </section>
      )
    case 'failed':
      return (
        <section className="sheet" data-state="error">
          <ErrorNote error={state.error}>
            <button
              type="button"
              className="btn btn-outline btn-sm self-start"
              onClick={() => void openGroup(id ?? '')}
            >
              {t('common.retry')}
            </button>
          </ErrorNote>
        </section>
      )
    case 'ready':
      return (
        <div className="flex flex-col gap-6" data-state="ready">
          <GroupSettings key={state.group.id} group={state.group} />
          <GroupMembers group={state.group} />
          <GroupCategories group={state.group} />
          <DeleteGroup group={state.group} />
          <PasswordQuestion />
        </div>
      )
  }
})
