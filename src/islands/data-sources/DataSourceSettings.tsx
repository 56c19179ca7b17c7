import type { DataSource } from '../../contract/data-sources.ts'
import type { ColumnLabels } from '../../contract/registers.ts'
import { integer, required } from '../../core/input/validators.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import {
  type DataSourceChanges,
  reloadDataSource,
  updateDataSource
} from '../../stores/admin/data-sources.ts'
import { Field } from '../forms/Field.tsx'
import { SettingsSection } from '../forms/SettingsSection.tsx'
import type { FormValues } from '../forms/use-form.ts'
import { FactList } from '../kit/FactList.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { describeColumns } from './register-words.ts'

interface DataSourceSettingsProps {
  source: DataSource
}

type LabelChanges = { index: number; labels: ColumnLabels }[]
// the call changes `labels`, which the source has in its columns
type LabeledSource = DataSource & { labels: LabelChanges }

export function DataSourceSettings({ source }: DataSourceSettingsProps) {
  const { locale, t } = useTranslation()
  return (
    <>
      {source.columns.length > 0 && <Columns source={source} />}
      <SettingsSection<DataSource>
        id="data-source-settings"
        title={t('dataSources.settings.title')}
        item={source}
        call="updateDataSource"
        save={(changes, version) => saveChanges(source.id, changes, version)}
        load={() => reloadDataSource(source.id)}
        what="Saving the data source failed"
        rules={{ name: required, position: integer }}
        codeErrors={{ name_taken: { name: { rule: 'taken' } } }}
        words={key => t(`dataSources.settings.${key}`)}
        wordsOf={(_, value) => String(value)}
        shown={
          <FactList
            facts={[
              { label: fieldLabel('name', locale), value: source.name },
              {
                label: fieldLabel('position', locale),
                value: String(source.position),
                note: t('dataSources.settings.positionHint')
              }
            ]}
          />
        }
        className="max-w-md gap-4"
        fields={was => (
          <>
            <Field
              label={fieldLabel('name', locale)}
              name="name"
              autoComplete="off"
              initial={was.name}
              hint={t('dataSources.nameHint')}
            />
            <Field
              label={fieldLabel('position', locale)}
              name="position"
              inputMode="numeric"
              autoComplete="off"
              initial={String(was.position)}
              hint={t('dataSources.settings.positionHint')}
            />
          </>
        )}
        read={(values, was) => ({
          name: (values['name'] ?? '').trim(),
          position: values['position']?.trim() ? Number(values['position']) : was.position
        })}
      />
    </>
  )
}

function Columns({ source }: DataSourceSettingsProps) {
  const { locale, t } = useTranslation()
  const { columns } = source
  const languages = locale === 'fr' ? (['fr', 'en'] as const) : (['en', 'fr'] as const)
  return (
    <SettingsSection<LabeledSource>
      id="register-columns"
      title={t('dataSources.columns.title')}
      item={withLabels(source)}
      call="updateDataSource"
      save={(changes, version) => saveChanges(source.id, changes, version)}
      load={async () => withLabels(await reloadDataSource(source.id))}
      what="Saving the labels failed"
      words={key => t(`dataSources.columns.${key}`)}
      wordsOf={(_, value) =>
        // as: the form changes nothing but the labels
        (value as LabelChanges).map(({ labels }) => `${labels.en} / ${labels.fr}`).join(', ')
      }
      shown={
        <>
          <p className="wrap-anywhere font-semibold">{describeColumns(columns, locale, t)}</p>
          <FactList
            facts={columns.map(({ index, header, labels, use, shown, date }) => ({
              label: labels[locale],
              value: t(`dataSources.columns.uses.${use === 'check' && shown ? 'checkShown' : use}`),
              note: [
                header === ''
                  ? t('dataSources.columns.at', { number: index + 1 })
                  : t('dataSources.columns.header', { header }),
                ...(date ? [t(`dataSources.columns.dates.${date}`)] : []),
                ...languages
                  .slice(1)
                  .map(language =>
                    t(`dataSources.columns.otherLabel.${language}`, { label: labels[language] })
                  )
              ].join(' · ')
            }))}
          />
        </>
      }
      className="max-w-2xl gap-6"
      fields={was => (
        <>
          <p className="text-ink-soft">{t('dataSources.columns.labelsNote')}</p>
          {was.columns.map(({ index, header, labels }, at) => (
            <fieldset key={index} className="grid gap-3 sm:grid-cols-2">
              <legend className="wrap-anywhere mb-1.5 font-semibold">
                {header || t('dataSources.columns.at', { number: index + 1 })}
              </legend>
              {languages.map(language => (
                <Field
                  key={language}
                  label={t(`dataSources.label.${language}`)}
                  name={labelField(at, language)}
                  autoComplete="off"
                  initial={labels[language]}
                />
              ))}
            </fieldset>
          ))}
        </>
      )}
      read={(values, was) => ({
        labels: was.columns.map(({ index }, at) => ({ index, labels: labelsFrom(values, at) }))
      })}
    />
  )
}

function saveChanges(id: string, changes: Partial<LabeledSource>, version: number): Promise<void> {
  // as: the forms have the fields of `DataSourceChanges`
  return updateDataSource(id, changes as DataSourceChanges, version)
}

function withLabels(source: DataSource): LabeledSource {
  return { ...source, labels: source.columns.map(({ index, labels }) => ({ index, labels })) }
}

function labelsFrom(values: FormValues, at: number): ColumnLabels {
  const label = (language: 'en' | 'fr') => (values[labelField(at, language)] ?? '').trim()
  return { en: label('en'), fr: label('fr') }
}

// as the API names the fields whose value is wrong
function labelField(at: number, language: 'en' | 'fr'): string {
  return ['labels', at, 'labels', language].join('.')
}
