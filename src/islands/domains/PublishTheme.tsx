import { useRef } from 'react'
import type { DomainDetails, DomainThemes } from '../../contract/domains.ts'
import { deleteThemeDraft, publishThemeDraft, reloadThemes } from '../../stores/admin/domains.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { describeThemeChanges } from './theme-words.ts'
import type { ThemeDraft } from './use-theme-draft.ts'

interface PublishThemeProps {
  domain: DomainDetails
  themes: DomainThemes
  draft: ThemeDraft
}

export function PublishTheme({ domain, themes, draft }: PublishThemeProps) {
  const { t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  const changes = describeThemeChanges(draft.look, themes, t)
  const { host, id } = domain
  const action = useAction({
    what: 'Publishing the look failed',
    async send(isPublished: boolean) {
      await draft.save()
      if (isPublished) await publishThemeDraft(id, draft.version())
      else await deleteThemeDraft(id, draft.version())
      draft.reset()
      showMessage(t(isPublished ? 'domains.look.published' : 'domains.look.discarded', { host }))
      // the buttons are gone
      title.current?.focus()
    },
    handle(error) {
      // so that the page shows what somebody else has saved
      if (error.code === 'changed_meanwhile') reloadThemes(id).then(draft.reset, () => {})
      return false
    }
  })
  const isOff = draft.isSaving || draft.conflict !== undefined
  return (
    <section className="flex flex-col gap-3" aria-labelledby="look-publish">
      <h3 id="look-publish" ref={title} tabIndex={-1} className="font-semibold">
        {t('domains.look.publish.title')}
      </h3>
      {changes.length === 0 ? (
        <p className="text-ink-soft">{t('domains.look.publish.none')}</p>
      ) : (
        <>
          <ul className="flex flex-col gap-1">
            {changes.map(({ label, before, after }) => (
              <li key={label}>
                {before === undefined
                  ? t('domains.look.publish.new', { label, after })
                  : t('domains.look.publish.change', { label, before, after })}
              </li>
            ))}
          </ul>
          <p role="status" className="meta empty:hidden">
            {!draft.conflict &&
              t(draft.isSaving ? 'domains.look.publish.saving' : 'domains.look.publish.saved')}
          </p>
        </>
      )}
      {action.failure && <ErrorNote error={action.failure} />}
      {changes.length > 0 && (
        <div className="flex flex-wrap gap-4">
          <BusyButton
            label={t('domains.look.publish.go', { host })}
            isWorking={action.isWorking}
            isOff={draft.conflict !== undefined}
            onClick={() => void action.start(true)}
          />
          <BusyButton
            label={t('domains.look.publish.discard')}
            look="btn-outline"
            isWorking={action.isWorking}
            isOff={isOff}
            onClick={() => void action.start(false)}
          />
        </div>
      )}
    </section>
  )
}
