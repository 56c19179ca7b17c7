import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import type { Import } from '../../contract/imports.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $session } from '../../stores/sessions.ts'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { ListFrame } from '../lists/ListFrame.tsx'
import { UndoImport } from './UndoImport.tsx'
import type { ImportWizardProps } from './wizard-props.ts'

export function PastImports({ kind, undoQuestion }: ImportWizardProps) {
  const { locale, t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const { past } = kind
  const rows = useStore(past.$rows, { ssr: 'initial' })
  const status = useStore(past.$status, { ssr: 'initial' })
  const company = companyIdOfPage()

  useEffect(() => {
    if (session.status === 'in' && company !== '') void past.open(company, {})
  }, [session.status, company, past])

  return (
    <section className="flex flex-col gap-3" aria-labelledby="import-past">
      <h2 id="import-past" className="section-title">
        {t('imports.wizard.past.title')}
      </h2>
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('imports.wizard.past.loading')}
        empty={<p className="text-ink-soft">{t('imports.wizard.past.empty')}</p>}
        onRetry={() => void past.load()}
        onMore={() => void past.loadMore()}
      >
        <ul className="sheet flex flex-col divide-y divide-base-300 py-0!">
          {rows.map(item => (
            <li key={item.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <div className="min-w-0 flex-1">
                <p className="wrap-anywhere">
                  <a className="link" href={`?${new URLSearchParams({ import: item.id })}`}>
                    {item.file_name}
                  </a>
                  <span className="badge badge-outline ms-2">
                    {t(`imports.wizard.past.states.${item.state}`)}
                  </span>
                </p>
                <p className="meta wrap-anywhere">
                  {t('imports.wizard.past.by', {
                    time: formatDateTime(new Date(item.created), locale),
                    who: item.created_by ?? t('imports.wizard.past.nobody')
                  })}
                  {' · '}
                  {t('imports.wizard.read.rows', { count: item.rows })}
                </p>
              </div>
              <div className="flex flex-wrap gap-2 empty:hidden">
                {item.state === 'done' && (
                  <UndoImport
                    kind={kind}
                    item={item}
                    label={t('imports.wizard.past.undo')}
                    name={t('imports.wizard.past.undoNamed', { name: item.file_name })}
                    undoQuestion={undoQuestion}
                    onUndo={() => void past.load()}
                  />
                )}
                {(item.state === 'done' || item.state === 'undone') && (
                  <RemoveImport kind={kind} item={item} />
                )}
              </div>
            </li>
          ))}
        </ul>
      </ListFrame>
    </section>
  )
}

function RemoveImport({ kind, item }: Pick<ImportWizardProps, 'kind'> & { item: Import }) {
  const { t } = useTranslation()
  const removing = useAction({
    what: 'Removing the import failed',
    async send() {
      await kind.remove(item.id)
      await kind.past.load()
    }
  })
  return (
    <>
      <ConfirmButton
        label={t('imports.wizard.past.remove')}
        name={t('imports.wizard.past.removeNamed', { name: item.file_name })}
        look="btn-ghost btn-sm"
        question={t('imports.wizard.past.removeQuestion')}
        yes={t('imports.wizard.past.removeYes')}
        no={t('imports.wizard.past.removeNo')}
        action={removing}
      />
      {removing.failure && <ErrorNote error={removing.failure} />}
    </>
  )
}
