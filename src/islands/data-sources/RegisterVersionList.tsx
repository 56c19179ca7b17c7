import { useStore } from '@nanostores/react'
import { formatDateTime } from '../../core/text/format.ts'
import { languageTag } from '../../i18n/index.ts'
import { registerVersions } from '../../stores/admin/data-sources.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { ListFrame } from '../lists/ListFrame.tsx'

export function RegisterVersionList() {
  const { locale, t } = useTranslation()
  const rows = useStore(registerVersions.$rows, { ssr: 'initial' })
  const status = useStore(registerVersions.$status, { ssr: 'initial' })
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const counts = ['rows', 'added', 'changed', 'removed'] as const
  return (
    <Section
      id="register-versions"
      title={t('dataSources.versions.title')}
      note={t('dataSources.versions.note')}
    >
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('dataSources.versions.loading')}
        empty={<p className="text-ink-soft">{t('dataSources.versions.none')}</p>}
        onRetry={() => void registerVersions.load()}
        onMore={() => void registerVersions.loadMore()}
      >
        <table className="data-table" aria-label={t('dataSources.versions.title')}>
          <thead>
            <tr>
              <th scope="col">{t('dataSources.versions.number')}</th>
              <th scope="col" className="w-[28%]">
                {t('dataSources.versions.made')}
              </th>
              {counts.map(name => (
                <th key={name} scope="col" className="text-end!">
                  {t(`dataSources.versions.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(version => (
              <tr key={version.id} data-version={version.number}>
                <th scope="row" className="whitespace-normal!">
                  {numbers.format(version.number)}{' '}
                  <span className="font-normal text-ink-soft text-sm">
                    {t(`dataSources.versions.modes.${version.mode}`)}
                  </span>
                </th>
                <td
                  data-label={t('dataSources.versions.made')}
                  className="wrap-anywhere whitespace-normal!"
                >
                  {t('dataSources.imports.by', {
                    time: formatDateTime(new Date(version.created), locale),
                    who: version.created_by ?? t('dataSources.imports.nobody')
                  })}
                  {version.erased && (
                    <span className="block text-ink-soft text-sm">
                      {t('dataSources.versions.erased')}
                    </span>
                  )}
                </td>
                {counts.map(name => (
                  <td
                    key={name}
                    data-label={t(`dataSources.versions.${name}`)}
                    className="tabular sm:text-end"
                  >
                    {numbers.format(version[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ListFrame>
    </Section>
  )
}
