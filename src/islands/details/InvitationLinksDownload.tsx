import { useEffect, useId, useRef, useState } from 'react'
import { formatDateTime } from '../../core/text/format.ts'
import en from '../../i18n/en/admin/passOn.json'
import fr from '../../i18n/fr/admin/passOn.json'
import { type Translate, translator } from '../../i18n/index.ts'
import type { NamespaceKey } from '../../i18n/keys.ts'
import {
  createInvitationLinkFile,
  type LinkRecipients
} from '../../stores/admin/invitation-links.ts'
import { downloadFile } from '../files/download-file.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

// part of the script, because in the HTML they would be loaded with every visit of the page
const catalogues = { en, fr }

export interface InvitationLinksProps {
  people: LinkRecipients
  /** Number of people who are selected in the list. */
  selected?: number
  onClose?: () => void
}

/** The links of many people as a CSV file, for a site that has no mail server. */
export function InvitationLinksDownload({ people, selected, onClose }: InvitationLinksProps) {
  const { locale, t: common } = useTranslation()
  const t: Translate<NamespaceKey<'passOn'>> = translator(locale, catalogues[locale])
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  const [created, setCreated] = useState(0)
  const [left, setLeft] = useState<{ of: string; rest: LinkRecipients }>()
  const isAsked = onClose !== undefined
  const action = useAction({
    what: 'Creating the links failed',
    async send(whose: LinkRecipients) {
      setCreated(0)
      const of = JSON.stringify(whose)
      // the links of the others are saved already
      const rest = left?.of === of ? left.rest : whose
      const { content, count, until, stopped } = await createInvitationLinkFile(rest, setCreated)
      if (count > 0) downloadFile(content, t('fileName'), 'csv')
      setLeft(stopped && { of, rest: stopped.rest })
      return { count, until, error: stopped?.error }
    }
  })
  useEffect(() => {
    // the button that asked for the links is gone
    if (isAsked) title.current?.focus()
  }, [isAsked])
  const { result, isWorking } = action
  const error = action.failure ?? result?.error
  const isOfImport = 'filter' in people && people.filter.import !== undefined
  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby={id}>
      <div className="flex flex-col gap-2">
        <h2 id={id} ref={title} tabIndex={-1} className="section-title">
          {t('title')}
        </h2>
        <p>
          {selected === undefined
            ? t(isOfImport ? 'imported' : 'matching')
            : t('selected', { count: selected })}
        </p>
        <p className="meta">{t('note')}</p>
      </div>
      {error && <ErrorNote error={error} />}
      <div className="flex flex-wrap items-center gap-3">
        <BusyButton
          label={t('save')}
          look="btn-outline btn-sm"
          isWorking={isWorking}
          onClick={() => void action.start(people)}
        />
        {onClose && (
          <button type="button" className="btn btn-ghost btn-sm" onClick={onClose}>
            {common('lists.bulk.dismiss')}
          </button>
        )}
        <p role="status" className="text-ink-soft text-sm empty:hidden">
          {isWorking && t('working', { count: created })}
          {result?.count === 0 && t('none')}
          {result &&
            result.count > 0 &&
            t('saved', {
              count: result.count,
              date: formatDateTime(new Date(result.until), locale)
            })}
          {result?.error && ` ${t('rest')}`}
        </p>
      </div>
    </section>
  )
}
