import { DateOrder } from '../../contract/registers.ts'
import { type ColumnFault, type DraftColumn, isKey } from '../../stores/imports/register-columns.ts'
import {
  changeRegisterColumn,
  removeRegisterColumn,
  setColumnDate
} from '../../stores/imports/register-imports.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { FieldFrame } from '../kit/FieldFrame.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface RegisterColumnEditorProps {
  column: DraftColumn
  name: string
  example: string
  faults: readonly ColumnFault[]
}

/** What people read beside a kept column, and how its values are compared. */
export function RegisterColumnEditor(props: RegisterColumnEditorProps) {
  const { column, name, example, faults } = props
  const { locale, t } = useTranslation()
  const { index, use, shown, labels, date } = column
  const languages = locale === 'fr' ? (['fr', 'en'] as const) : (['en', 'fr'] as const)
  const isDateAsked = faults.some(fault => fault.kind === 'date' && fault.index === index)
  const isLabelMissing = (language: 'en' | 'fr') =>
    faults.some(
      fault => fault.kind === 'label' && fault.index === index && fault.language === language
    )
  return (
    <fieldset
      className="grid gap-4 rounded-box border border-base-300 p-4 sm:grid-cols-2"
      data-column={index}
      aria-label={name}
    >
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 sm:col-span-2">
        <p className="wrap-anywhere min-w-0">
          <span className="font-medium">{name}</span>
          {example && (
            <span className="block text-ink-soft text-sm">
              {t('imports.wizard.columns.example', { value: example })}
            </span>
          )}
        </p>
        {!isKey(column) && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-label={t('registerImports.columns.removeNamed', { name })}
            onClick={event => runKeepingFocus(event, () => removeRegisterColumn(index))}
          >
            {t('registerImports.columns.remove')}
          </button>
        )}
      </div>
      {languages.map(language => (
        <FieldFrame
          key={language}
          label={t(`dataSources.label.${language}`)}
          error={isLabelMissing(language) ? t('registerImports.columns.labelMissing') : undefined}
          control={described => (
            <input
              {...described}
              className={`input w-full ${isLabelMissing(language) ? 'border-error' : ''}`}
              autoComplete="off"
              maxLength={80}
              value={labels[language]}
              onChange={event =>
                changeRegisterColumn(index, {
                  labels: { ...labels, [language]: event.currentTarget.value }
                })
              }
            />
          )}
        />
      ))}
      {!isKey(column) && (
        <SelectField
          label={t('registerImports.columns.content')}
          error={isDateAsked ? t('registerImports.columns.orderMissing') : undefined}
          value={date ?? ''}
          onChange={value =>
            setColumnDate(
              index,
              DateOrder.options.find(each => each === value)
            )
          }
          options={[
            ...(date === 'ask'
              ? [{ value: 'ask', label: t('registerImports.columns.dates.ask') }]
              : []),
            { value: '', label: t('registerImports.columns.text') },
            ...DateOrder.options.map(value => ({
              value,
              label: t(`registerImports.columns.dates.${value}`)
            }))
          ]}
        />
      )}
      {use === 'check' && (
        <label className="flex min-h-8 items-center gap-3 sm:self-end">
          <input
            type="checkbox"
            className="checkbox"
            checked={shown}
            onChange={event => changeRegisterColumn(index, { shown: event.currentTarget.checked })}
          />
          {t('registerImports.columns.alsoShown')}
        </label>
      )}
    </fieldset>
  )
}
