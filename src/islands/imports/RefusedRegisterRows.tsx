import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import type { RefusedRow, RegisterImport } from '../../contract/register-imports.ts'
import { fetchRefusedRows, refusedRows } from '../../stores/imports/register-imports.ts'
import { downloadFile } from '../files/download-file.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { ListFrame } from '../lists/ListFrame.tsx'
import { clip } from './FileFormatStep.tsx'

/** The first 1,000 refused rows, and all of them as a file. */
export function RefusedRegisterRows({ item }: { item: RegisterImport }) {
  const { t } = useTranslation()
  const rows = useStore(refusedRows.$rows, { ssr: 'initial' })
  const status = useStore(refusedRows.$status, { ssr: 'initial' })
  const refused = item.counts?.refused ?? 0
  const isOpen = status.status !== 'idle'
  useEffect(() => {
    if (!isOpen) void refusedRows.open(item.id, {})
  }, [isOpen, item.id])
  const downloading = useAction({
    what: 'Downloading the refused rows failed',
    async send(_: undefined) {
      const name = (item.file_name ?? t('registerImports.noName')).replace(/\.\w{1,4}$/, '')
      const content = await fetchRefusedRows(item)
      downloadFile(content, t('registerImports.refused.fileName', { name }), 'csv')
    }
  })
  const isAtEnd = status.status === 'ready' && !status.hasMore
  // of an import that others have followed
  const areErased = isAtEnd && rows.length === 0
  return (
    <section className="flex flex-col gap-3" aria-labelledby="refused-rows">
      <div>
        <h3 id="refused-rows" className="font-semibold">
          {t('registerImports.refused.title')}
        </h3>
        <p className="meta">{t('registerImports.refused.note')}</p>
      </div>
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('common.loading')}
        empty={<p className="text-ink-soft">{t('registerImports.refused.none')}</p>}
        onRetry={() => void refusedRows.load()}
        onMore={() => void refusedRows.loadMore()}
      >
        <table className="data-table" aria-label={t('registerImports.refused.title')}>
          <thead>
            <tr>
              <th scope="col" className="w-[6rem]">
                {t('registerImports.refused.row')}
              </th>
              <th scope="col">{t('registerImports.refused.reason')}</th>
              <th scope="col">{t('registerImports.refused.cells')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
      </ListFrame>
      {isAtEnd && !areErased && rows.length < refused && (
        <p className="meta">{t('registerImports.refused.first', { count: rows.length })}</p>
      )}
      {!areErased && (
        <button
          type="button"
          className="btn btn-outline btn-sm self-start"
          aria-disabled={downloading.isWorking}
          onClick={() => void downloading.start(undefined)}
        >
          <Icon name="save" className="size-4" />
          {t('registerImports.refused.download', { count: refused })}
        </button>
      )}
      {downloading.failure && <ErrorNote error={downloading.failure} />}
    </section>
  )
}

function Row({ row: { row, reasons, cells } }: { row: RefusedRow }) {
  const { t } = useTranslation()
  return (
    <tr>
      <th scope="row" className="tabular">
        <span className="sm:hidden">{t('registerImports.refused.row')} </span>
        {row}
      </th>
      <td
        data-label={t('registerImports.refused.reason')}
        className="whitespace-normal! wrap-anywhere"
      >
        <ul>
          {reasons.map(({ code, header }) => (
            <li key={`${code} ${header}`}>
              {header
                ? t('registerImports.refused.ofColumn', {
                    header,
                    reason: t(`registerImports.reasons.${code}`)
                  })
                : t(`registerImports.reasons.${code}`)}
            </li>
          ))}
        </ul>
      </td>
      <td
        data-label={t('registerImports.refused.cells')}
        className="whitespace-normal! wrap-anywhere text-ink-soft"
      >
        {clip(cells.map(cell => cell || '–').join(' · '), 160)}
      </td>
    </tr>
  )
}
