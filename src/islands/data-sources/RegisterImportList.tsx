import { useStore } from '@nanostores/react'
import { useEffect, useEffectEvent } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import type { RegisterImport } from '../../contract/register-imports.ts'
import { formatDateTime, formatPercent } from '../../core/text/format.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  refreshRegister,
  registerImports,
  undoRegisterImport
} from '../../stores/admin/data-sources.ts'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { ListFrame } from '../lists/ListFrame.tsx'

const refreshMs = 2_000

/** The imports of a register, kept up to date while one is under way. */
export function RegisterImportList({ source }: { source: DataSource }) {
  const { locale, t } = useTranslation()
  const rows = useStore(registerImports.$rows, { ssr: 'initial' })
  const status = useStore(registerImports.$status, { ssr: 'initial' })
  const isMoving = rows.some(({ state }) => state === 'uploading' || state === 'reading')
  const refresh = useEffectEvent(() => void refreshRegister(source.id).catch(() => {}))

  useEffect(() => {
    if (!isMoving) return
    const timer = setInterval(refresh, refreshMs)
    return () => clearInterval(timer)
  }, [isMoving])

  const page = pageHref(locale, 'importRegister', {
    company: companyIdOfPage(),
    data_source: source.id
  })
  return (
    <Section id="register-imports" title={t('dataSources.imports.title')}>
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('dataSources.imports.loading')}
        empty={<p className="text-ink-soft">{t('dataSources.imports.none')}</p>}
        onRetry={() => void registerImports.load()}
        onMore={() => void registerImports.loadMore()}
      >
        <ul className="flex flex-col divide-y divide-base-300">
          {rows.map(item => (
            <li key={item.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
              <div className="min-w-0 flex-1 basis-56">
                <p className="wrap-anywhere">
                  <a className="link" href={`${page}?${new URLSearchParams({ import: item.id })}`}>
                    {item.file_name ?? t('registerImports.noName')}
                  </a>{' '}
                  <span className="badge badge-outline ms-1 h-auto">
                    {t(`dataSources.imports.states.${item.state}`)}
                    {item.progress && ` ${formatPercent(item.progress.share, locale)}`}
                  </span>
                </p>
                <p className="meta wrap-anywhere">
                  {t('dataSources.imports.by', {
                    time: formatDateTime(new Date(item.created), locale),
                    who: item.created_by ?? t('dataSources.imports.nobody')
                  })}
                  {item.rows > 0 && ` · ${t('dataSources.imports.rows', { count: item.rows })}`}
                  {item.version !== null &&
                    ` · ${t('dataSources.imports.version', { number: item.version })}`}
                </p>
              </div>
              {item.undoable && <Undo item={item} onUndo={refresh} />}
            </li>
          ))}
        </ul>
      </ListFrame>
    </Section>
  )
}

function Undo({ item, onUndo }: { item: RegisterImport; onUndo: () => void }) {
  const { t } = useTranslation()
  const name = item.file_name ?? t('registerImports.noName')
  const undoing = useAction({
    what: 'Undoing the import failed',
    async send() {
      await undoRegisterImport(item)
      showMessage(t('dataSources.imports.undone', { name }))
      // the button that was pressed goes away
      document.getElementById('register-imports')?.focus()
      onUndo()
    }
  })
  return (
    <>
      <ConfirmButton
        label={t('dataSources.imports.undo')}
        name={t('dataSources.imports.undoNamed', { name })}
        look="btn-outline btn-sm"
        question={t(`dataSources.undo.question.${item.mode}`)}
        yes={t('dataSources.undo.yes')}
        no={t('dataSources.undo.no')}
        action={undoing}
      />
      {undoing.failure && <ErrorNote error={undoing.failure} />}
    </>
  )
}
