import { useRef, useState } from 'react'
import type { DomainDetails, DomainThemes } from '../../contract/domains.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { publishEarlierTheme } from '../../stores/admin/domains.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { useUndoMessage } from '../kit/use-undo-message.ts'
import type { ThemeDraft } from './use-theme-draft.ts'

interface ThemeVersionsProps {
  domain: DomainDetails
  themes: DomainThemes
  draft: ThemeDraft
}

export function ThemeVersions({ domain, themes, draft }: ThemeVersionsProps) {
  const { locale, t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  const [asked, setAsked] = useState<number>()
  const { published, versions } = themes
  const announceWithUndo = useUndoMessage(t('domains.look.versions.undo'))
  const action = useAction({
    what: 'Restoring the look failed',
    async send(number: number) {
      await draft.save()
      await publishEarlierTheme(domain.id, number, draft.version())
      draft.reset()
      announceWithUndo(t('domains.look.versions.restored', { number }), async () => {
        await draft.save()
        await publishEarlierTheme(domain.id, published.number)
        draft.reset()
      })
      // the button that was pressed is on another line
      title.current?.focus()
    }
  })
  return (
    <section className="flex flex-col gap-3" aria-labelledby="look-versions">
      <h3 id="look-versions" ref={title} tabIndex={-1} className="font-semibold">
        {t('domains.look.versions.title')}
      </h3>
      {action.failure && <ErrorNote error={action.failure} />}
      <ul className="flex flex-col divide-y divide-base-300">
        {versions.map(({ number, published: at, by, restored }) => (
          <li key={number} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2">
            <span className="min-w-0 flex-1">
              <span className="font-medium">{t('domains.look.versions.number', { number })}</span>
              {restored !== null && (
                <span> {t('domains.look.versions.again', { number: restored })}</span>
              )}
              <span className="meta block">
                {t(by ? 'domains.look.versions.by' : 'domains.look.versions.first', {
                  who: by?.username ?? t('domains.look.versions.nobody'),
                  date: formatDateTime(new Date(at), locale)
                })}
              </span>
            </span>
            {number === published.number ? (
              <span className="badge badge-outline">{t('domains.look.versions.now')}</span>
            ) : (
              <button
                type="button"
                className="btn btn-outline btn-sm"
                aria-label={t('domains.look.versions.restoreNamed', { number })}
                aria-disabled={action.isWorking}
                onClick={() => setAsked(number)}
              >
                {t('domains.look.versions.restore')}
              </button>
            )}
          </li>
        ))}
      </ul>
      {asked !== undefined && (
        <ConfirmDialog
          question={t('domains.look.versions.question', { number: asked, host: domain.host })}
          yes={t('domains.look.versions.yes', { number: asked })}
          no={t('domains.look.versions.no')}
          onClose={() => setAsked(undefined)}
          onYes={() => void action.start(asked)}
        />
      )}
    </section>
  )
}
