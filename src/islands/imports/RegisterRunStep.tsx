import type { DataSource } from '../../contract/data-sources.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  type ShownRegisterImport,
  undoShownRegisterImport
} from '../../stores/imports/register-imports.ts'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { RefusedRegisterRows } from './RefusedRegisterRows.tsx'
import { describeDryRun } from './register-import-words.ts'

interface RegisterRunStepProps {
  source: DataSource
  state: Extract<ShownRegisterImport, { status: 'ready' }>
  onAgain: () => void
  /** The person wants to add the rows that were refused and are mended now. */
  onAppend: () => void
}

export function RegisterRunStep({ source, state, onAgain, onAppend }: RegisterRunStepProps) {
  const { locale, t } = useTranslation()
  const { item, error } = state
  const undoing = useAction({
    what: 'Undoing the import failed',
    send: (_: undefined) => undoShownRegisterImport(item)
  })
  if (item.state !== 'done' && item.state !== 'undone') return null
  const title = t(`registerImports.run.${item.state}`)
  const refused = item.counts?.refused ?? 0
  const register = pageHref(locale, 'dataSource', {
    company: companyIdOfPage(),
    data_source: source.id
  })
  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="import-run"
      data-state={item.state}
    >
      <div>
        <h2 id="import-run" data-step-heading tabIndex={-1} className="section-title">
          {title}
        </h2>
        <p className="meta wrap-anywhere">{item.file_name ?? t('registerImports.noName')}</p>
      </div>
      <p role="status" className="sr-only">
        {title}
      </p>
      {error && <ErrorNote error={error} />}
      {item.state === 'done' && (
        <p className="flex items-start gap-2 font-semibold text-lg" data-version={item.version}>
          <Icon name="check" className="mt-1 size-5 shrink-0 text-success" />
          {item.version === null
            ? t('registerImports.run.unchanged')
            : t('registerImports.run.version', { number: item.version })}
        </p>
      )}
      {item.state === 'undone' && <p>{t('registerImports.run.undoneText')}</p>}
      {item.state === 'done' && <p className="text-ink-soft">{describeDryRun(item, t)}</p>}
      {item.state === 'done' && refused > 0 && (
        <div className="flex flex-col items-start gap-3">
          <p>{t('registerImports.run.skipped', { count: refused })}</p>
          <button type="button" className="btn btn-primary" onClick={onAppend}>
            {t('registerImports.run.append')}
          </button>
        </div>
      )}
      {undoing.failure && <ErrorNote error={undoing.failure} />}
      <div className="flex flex-wrap items-center gap-3">
        <a className={`btn ${refused > 0 ? 'btn-outline' : 'btn-primary'}`} href={register}>
          {t('registerImports.run.open')}
        </a>
        <button type="button" className="btn btn-outline" onClick={onAgain}>
          {t('registerImports.run.again')}
        </button>
        {item.state === 'done' && item.undoable && (
          <ConfirmButton
            label={t('registerImports.run.undo')}
            look="btn-outline"
            question={t(`dataSources.undo.question.${item.mode}`)}
            yes={t('dataSources.undo.yes')}
            no={t('dataSources.undo.no')}
            action={undoing}
          />
        )}
      </div>
      {item.state === 'done' && refused > 0 && <RefusedRegisterRows item={item} />}
    </section>
  )
}
