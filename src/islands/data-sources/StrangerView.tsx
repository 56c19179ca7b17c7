import { useStore } from '@nanostores/react'
import type { DataSource } from '../../contract/data-sources.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { RegisterColumn } from '../../contract/registers.ts'
import { $isAskedByStrangers, loadWhetherStrangersAsk } from '../../stores/admin/data-sources.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { FactList } from '../kit/FactList.tsx'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { checkColumnsOf, keyColumnOf, shownColumnsOf } from './register-words.ts'

/** What people without an account give, and what they see if a row matches. */
export function StrangerView({ source: { id, columns, current } }: { source: DataSource }) {
  const { locale, t } = useTranslation()
  const isAsked = useStore($isAskedByStrangers, { ssr: 'initial' })
  const key = keyColumnOf(columns)
  const names = (list: readonly RegisterColumn[]) =>
    list.map(({ labels }) => labels[locale]).join(', ')
  const shown = shownColumnsOf(columns)
  const isByFile = key?.use === 'fingerprint'
  return (
    <Section id="register-strangers" title={t('dataSources.strangers.title')}>
      {key && current ? (
        <>
          {isAsked === false && <p>{t('dataSources.strangers.notAsked')}</p>}
          {isAsked === undefined && <p role="status">{t('common.loading')}</p>}
          {isAsked instanceof AppError && (
            <ErrorNote error={isAsked} retry={() => loadWhetherStrangersAsk(id)} />
          )}
          {isAsked === true && (
            <FactList
              facts={[
                {
                  label: t('dataSources.strangers.gives'),
                  value: isByFile
                    ? t('dataSources.strangers.file')
                    : names([key, ...checkColumnsOf(columns)]),
                  note: isByFile ? undefined : t('dataSources.strangers.wrong')
                },
                {
                  label: t('dataSources.strangers.sees'),
                  value:
                    shown.length > 0 ? names(shown) : t('dataSources.strangers.onlyThatItIsThere'),
                  note: t('dataSources.strangers.always')
                }
              ]}
            />
          )}
        </>
      ) : (
        <p className="text-ink-soft">{t('dataSources.strangers.empty')}</p>
      )}
    </Section>
  )
}
